/** Does nothing: what is measured is the start of the JVM. */
public class Empty {
    public static void main(String[] args) {}
}
