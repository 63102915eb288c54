import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
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
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Indexes generated text in parallel, then answers queries in parallel: {@code Main THREADS DOCUMENTS
 * QUERIES PASSES}. Every batch of documents and every query, which is done PASSES times, is one task of a pool.
 */
public class Main {
    static final int BATCH = 500;

    /** Adds a batch of documents. */
    static class IndexBatch implements Callable<Object> {
        final IndexWriter writer;
        final int first;

        IndexBatch(IndexWriter writer, int first) {
            this.writer = writer;
            this.first = first;
        }

        public Object call() throws Exception {
            Random random = new Random(first);
            for (int i = 0; i < BATCH; i++) {
                Document d = new Document();
                d.add(new TextField("body", text(random), Field.Store.NO));
                d.add(new IntPoint("number", first + i));
                writer.addDocument(d);
            }
            return null;
        }
    }

    /** Answers one query; every 200th is fuzzy and takes much longer. */
    static class Search implements Callable<Object> {
        final IndexSearcher searcher;
        final int n;
        final int passes;

        Search(IndexSearcher searcher, int n, int passes) {
            this.searcher = searcher;
            this.n = n;
            this.passes = passes;
        }

        public Object call() throws Exception {
            long hits = 0;
            for (int pass = 0; pass < passes; pass++) {
                hits = searcher.search(query(new Random(n)), 10).totalHits.value;
            }
            return hits;
        }

        Query query(Random random) {
            if (n % 200 == 0) {
                return new FuzzyQuery(new Term("body", word(random)), 2);
            }
            return new BooleanQuery.Builder()
                    .add(new TermQuery(new Term("body", word(random))), BooleanClause.Occur.SHOULD)
                    .add(new TermQuery(new Term("body", word(random))), BooleanClause.Occur.SHOULD)
                    .add(IntPoint.newRangeQuery("number", 0, random.nextInt(1_000_000)), BooleanClause.Occur.FILTER)
                    .build();
        }
    }

    /** Words distributed as in text: few are frequent. */
    static String word(Random random) {
        double u = random.nextDouble();
        return "w" + Integer.toString((int) (20_000 * u * u * u), 36);
    }

    static String text(Random random) {
        StringBuilder b = new StringBuilder();
        for (int i = 20 + random.nextInt(60); i > 0; i--) {
            b.append(word(random)).append(' ');
        }
        return b.toString();
    }

    static long sum(ExecutorService pool, List<? extends Callable<Object>> tasks) throws Exception {
        long sum = 0;
        for (Future<Object> f : pool.invokeAll(tasks)) {
            sum += f.get() instanceof Long hits ? hits : 1;
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int documents = Integer.parseInt(args[1]);
        int queries = Integer.parseInt(args[2]);
        int passes = Integer.parseInt(args[3]);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        ByteBuffersDirectory dir = new ByteBuffersDirectory();
        try (IndexWriter writer = new IndexWriter(dir, new IndexWriterConfig(new WhitespaceAnalyzer()))) {
            List<IndexBatch> batches = new ArrayList<>();
            for (int i = 0; i < documents; i += BATCH) {
                batches.add(new IndexBatch(writer, i));
            }
            sum(pool, batches);
            writer.forceMerge(1); // equal segments in every run give equal hits
        }
        try (DirectoryReader reader = DirectoryReader.open(dir)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            searcher.setQueryCache(null);
            List<Search> searches = new ArrayList<>();
            for (int i = 0; i < queries; i++) {
                searches.add(new Search(searcher, i, passes));
            }
            long hits = sum(pool, searches);
            System.out.println("documents " + reader.numDocs() + " queries " + queries + " found some " + (hits > 0));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}
