import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The entries of WordNet: words of one meaning, and the gloss that explains it. */
record WordNet(String words, String gloss) {
    /** Reads up to {@code limit} entries in the order of the files. */
    static List<WordNet> read(Path folder, int limit) throws IOException {
        List<WordNet> entries = new ArrayList<>();
        for (String part : List.of("data.noun", "data.verb", "data.adj", "data.adv")) {
            for (String line : Files.readAllLines(folder.resolve(part), StandardCharsets.ISO_8859_1)) {
                if (entries.size() < limit && !line.startsWith(" ")) { // lines of the licence begin with a space
                    entries.add(of(line));
                }
            }
        }
        Iterations.expect(limit, entries.size(), "entries of WordNet");
        return entries;
    }

    // OFFSET FILE TYPE COUNT WORD ID WORD ID ... | GLOSS, where COUNT is hexadecimal.
    private static WordNet of(String line) {
        int bar = line.indexOf('|');
        String[] fields = line.substring(0, bar).split(" ");
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < Integer.parseInt(fields[3], 16); i++) {
            words.append(fields[4 + 2 * i].replace('_', ' ')).append(' ');
        }
        return new WordNet(words.toString(), line.substring(bar + 1));
    }
}
