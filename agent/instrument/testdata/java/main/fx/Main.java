package fx;

/** Runs every scenario in one thread and prints what the program itself sees. */
public class Main {

    public static void main(String[] args) throws Exception {
        Shapes.all();
        Constructors.all();
        Bodies.all();
    }
}
