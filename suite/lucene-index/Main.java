import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.FSDirectory;

/**
 * Indexes WordNet, an entry a document: {@code Main FOLDER THREADS ITERATIONS PASSES ENTRIES}. A task adds a batch of entries. Each
 * iteration writes a new index in which every entry is PASSES times.
 */
public class Main {
    static final int BATCH = 500;

    record Batch(IndexWriter writer, List<WordNet> entries) implements Callable<Void> {
        @Override
        public Void call() throws Exception {
            for (WordNet e : entries) {
                Document d = new Document();
                d.add(new TextField("words", e.words(), Field.Store.YES));
                d.add(new TextField("gloss", e.gloss(), Field.Store.YES));
                writer.addDocument(d);
            }
            return null;
        }
    }

    static void index(FSDirectory directory, ExecutorService pool, List<WordNet> entries, int passes) throws Exception {
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new EnglishAnalyzer()))) {
            List<Batch> batches = new ArrayList<>();
            for (int pass = 0; pass < passes; pass++) {
                for (int i = 0; i < entries.size(); i += BATCH) {
                    batches.add(new Batch(writer, entries.subList(i, Math.min(entries.size(), i + BATCH))));
                }
            }
            for (Future<Void> f : pool.invokeAll(batches)) {
                f.get();
            }
        }
    }

    /** In the text, a word stands in as many entries as the index says. "entity" has no other form that is stemmed to it. */
    static void check(FSDirectory directory, List<WordNet> entries, int passes) throws Exception {
        long want = entries.stream().filter(e -> e.gloss().toLowerCase().matches(".*\\bentit(y|ies)\\b.*")).count();
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            Iterations.expect(passes * entries.size(), reader.numDocs(), "documents in the index");
            Iterations.expect(want * passes, (long) reader.docFreq(new Term("gloss", "entiti")), "documents with the word entity");
        }
    }

    public static void main(String[] args) throws Exception {
        List<WordNet> entries = WordNet.read(Path.of(args[0], "text/package/dict"), Integer.parseInt(args[4]));
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[1]));
        int passes = Integer.parseInt(args[3]);
        Iterations.run(Integer.parseInt(args[2]), i -> {
            Path folder = Files.createTempDirectory("lucene");
            try (FSDirectory directory = FSDirectory.open(folder)) {
                index(directory, pool, entries, passes);
                check(directory, entries, passes);
            }
            Scratch.delete(folder);
        });
        pool.shutdown();
        Iterations.ok(entries.size() + " entries indexed " + passes + " times");
    }
}
