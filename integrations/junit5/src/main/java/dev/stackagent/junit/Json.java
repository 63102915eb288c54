package dev.stackagent.junit;

import java.nio.charset.StandardCharsets;

/** Strings of JSON, which are strings of YAML, too. */
final class Json {
    private Json() {}

    static String quote(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ' || c == 0x7f) {
                b.append(' ');
            } else if (c > '~') {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }

    /** The first characters of s, at most max bytes of UTF-8. */
    static String cut(String s, int max) {
        int end = s.length();
        while (s.substring(0, end).getBytes(StandardCharsets.UTF_8).length > max) {
            end = s.offsetByCodePoints(end, -1);
        }
        return s.substring(0, end);
    }
}
