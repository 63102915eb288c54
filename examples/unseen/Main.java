import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/**
 * Tasks that no constructor made: deserialised copies.
 * Known answer: they are executed, but were not seen created.
 */
public class Main {
    static int ran;

    static class Stored implements Runnable, Serializable {
        final int n = 2;

        public void run() {
            ran += n;
        }
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Stored());
        }
        for (int i = 0; i < 3; i++) {
            ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
            Runnable copy = (Runnable) in.readObject();
            copy.run();
            copy.run();
        }
        System.out.println("ran " + ran);
    }
}
