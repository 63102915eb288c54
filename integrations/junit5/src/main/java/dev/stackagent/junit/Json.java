package dev.stackagent.junit;

import java.nio.charset.StandardCharsets;

/** Strings of JSON, which are strings of YAML, too. */
final class Json {
    private Json() {}

    static String quote(String s) {
        StringBuilder b = new StringBuilder("\"");
        s.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                b.append('\\').appendCodePoint(c);
            } else if (Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE || c == 0x2028 || c == 0x2029 || c == 0xfeff || c >= 0xfffe && c <= 0xffff) {
                b.append(' '); // YAML has no such characters
            } else {
                b.appendCodePoint(c); // not escaped: what JSON writes for those beyond 16 bits is no YAML
            }
        });
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
