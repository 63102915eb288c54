import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.QueryBuilder;

/**
 * Searches WordNet: {@code Main FOLDER THREADS ITERATIONS PASSES ENTRIES QUERIES}. A task is a query for the text of an entry, done
 * PASSES times; every 50th is fuzzy. The entry itself must be among the best ten answers, unless others have the same text.
 */
public class Main {
    record Search(IndexSearcher searcher, QueryBuilder builder, List<WordNet> entries, int entry, int passes, boolean fuzzy) implements Callable<Boolean> {
        @Override
        public Boolean call() throws Exception {
            boolean found = false;
            for (int pass = 0; pass < passes; pass++) {
                found = fuzzy ? misspelt() : exact();
            }
            return found;
        }

        boolean exact() throws Exception {
            BooleanQuery.Builder q = new BooleanQuery.Builder();
            add(q, "gloss", entries.get(entry).gloss());
            add(q, "words", entries.get(entry).words());
            for (ScoreDoc d : searcher.search(q.build(), 10).scoreDocs) {
                if (searcher.storedFields().document(d.doc).get("entry").equals(Integer.toString(entry))) {
                    return true;
                }
            }
            return false;
        }

        private void add(BooleanQuery.Builder q, String field, String text) {
            Query part = builder.createBooleanQuery(field, text);
            if (part != null) { // a text of stop words only has no terms
                q.add(part, BooleanClause.Occur.SHOULD);
            }
        }

        /** A typing error in the first word: something is found for most words. */
        boolean misspelt() throws Exception {
            String word = entries.get(entry).words().split(" ")[0].toLowerCase();
            return searcher.count(new FuzzyQuery(new Term("words", word + "x"), 2)) > 0;
        }
    }

    static void index(ByteBuffersDirectory directory, List<WordNet> entries) throws Exception {
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new EnglishAnalyzer()))) {
            for (int i = 0; i < entries.size(); i++) {
                Document d = new Document();
                d.add(new StringField("entry", Integer.toString(i), Field.Store.YES));
                d.add(new TextField("words", entries.get(i).words(), Field.Store.NO));
                d.add(new TextField("gloss", entries.get(i).gloss(), Field.Store.NO));
                writer.addDocument(d);
            }
            writer.forceMerge(1); // the same index in every run
        }
    }

    public static void main(String[] args) throws Exception {
        List<WordNet> entries = WordNet.read(Path.of(args[0], "text/package/dict"), Integer.parseInt(args[4]));
        int passes = Integer.parseInt(args[3]), queries = Integer.parseInt(args[5]);
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[1]));
        ByteBuffersDirectory directory = new ByteBuffersDirectory();
        index(directory, entries);
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            searcher.setQueryCache(null);
            QueryBuilder builder = new QueryBuilder(new EnglishAnalyzer());
            int[] least = {queries};
            Iterations.run(Integer.parseInt(args[2]), iteration -> {
                Random random = new Random(iteration);
                List<Search> searches = new ArrayList<>();
                for (int i = 0; i < queries; i++) {
                    searches.add(new Search(searcher, builder, entries, random.nextInt(entries.size()), passes, i % 50 == 49));
                }
                int found = 0;
                for (Future<Boolean> f : pool.invokeAll(searches)) {
                    found += f.get() ? 1 : 0;
                }
                least[0] = Math.min(least[0], found);
                Iterations.expect(true, found >= queries * 0.95, "95 % of the searches find their entry, not " + found + " of " + queries);
            });
            pool.shutdown();
            Iterations.ok("at least " + least[0] + " of " + queries + " searches found their entry");
        }
    }
}
