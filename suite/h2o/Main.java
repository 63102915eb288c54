import hex.ModelMetricsRegression;
import hex.tree.gbm.GBM;
import hex.tree.gbm.GBMModel;
import java.io.File;
import water.H2O;
import water.H2OStarter;
import water.Key;
import water.fvec.Frame;
import water.fvec.NFSFileVec;
import water.parser.ParseDataset;

/**
 * Learns how late flights arrive: {@code Main FOLDER THREADS ITERATIONS DEPTH TREES SHARE}. Each iteration reads all flights from New York in
 * 2013 and trains boosted trees on them. They must explain more than SHARE of the variance: the delay at departure is among the columns.
 */
public class Main {
    static double explained(Frame flights, int depth, int trees) {
        GBMModel.GBMParameters p = new GBMModel.GBMParameters();
        p._train = flights._key;
        p._response_column = "arr_delay";
        p._ignored_columns = new String[] {"arr_time", "tailnum", "time_hour"};
        p._ntrees = trees;
        p._max_depth = depth;
        p._learn_rate = 0.3;
        p._seed = 1;
        GBMModel model = new GBM(p).trainModel().get();
        try {
            Iterations.expect(trees, model._output._ntrees, "trees");
            return ((ModelMetricsRegression) model._output._training_metrics).r2();
        } finally {
            model.delete();
        }
    }

    public static void main(String[] args) {
        System.setProperty("sys.ai.h2o.debug.noJavaVersionCheck", "true"); // it knows no Java newer than 17
        H2OStarter.start(new String[] {"-name", "suite-" + ProcessHandle.current().pid(), "-nthreads", args[1], "-disable_web", "-ip", "127.0.0.1",
            "-ice_root", System.getProperty("java.io.tmpdir"), "-log_level", "FATAL", "-quiet"}, true);
        H2O.waitForCloudSize(1, 60_000);
        double share = Double.parseDouble(args[5]);
        double[] least = {1};
        Iterations.run(Integer.parseInt(args[2]), i -> {
            NFSFileVec file = NFSFileVec.make(new File(args[0], "flights/flights.csv"));
            Frame flights = ParseDataset.parse(Key.make("flights" + i), file._key);
            Iterations.expect(336_776L, flights.numRows(), "flights");
            double explained = explained(flights, Integer.parseInt(args[3]), Integer.parseInt(args[4]));
            Iterations.expect(true, explained > share && explained < 1, "more than " + share + " of the variance is explained, not " + explained);
            least[0] = Math.min(least[0], explained);
            flights.delete();
        });
        Iterations.ok(String.format("at least %.1f %% of the variance is explained", 100 * least[0]));
    }
}
