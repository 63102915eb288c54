import java.io.File;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/**
 * Turns the manual of Gnumeric, which is DocBook, into HTML by the stylesheets of DocBook: {@code Main FOLDER THREADS ITERATIONS
 * EVERY}. A task transforms a section or the reference page of a function; EVERY of them is taken. The text must be in the page.
 */
public class Main {
    static DocumentBuilder builder() throws Exception {
        DocumentBuilderFactory f = DocumentBuilderFactory.newInstance();
        f.setExpandEntityReferences(true);
        DocumentBuilder b = f.newDocumentBuilder();
        b.setEntityResolver((name, uri) -> uri.startsWith("file:") ? null : new InputSource(new StringReader(""))); // no DTD from the network
        return b;
    }

    /** The parts of the manual, a document each. */
    static List<Document> parts(File manual, int every) throws Exception {
        DocumentBuilder b = builder();
        Document all = b.parse(manual);
        List<Document> parts = new ArrayList<>();
        for (String name : List.of("refentry", "sect1", "preface")) {
            NodeList found = all.getElementsByTagName(name);
            for (int i = 0; i < found.getLength(); i += every) {
                Element e = (Element) found.item(i);
                if (name.equals("sect1") && e.getElementsByTagName("refentry").getLength() > 0) {
                    continue; // its pages are there already
                }
                Document d = b.newDocument();
                d.appendChild(d.importNode(e, true));
                parts.add(d);
            }
        }
        return parts;
    }

    static String squeezed(String s) {
        return s.replaceAll("[\\s\u00a0]+", "");
    }

    record Page(Templates style, Document part) implements Callable<Integer> {
        @Override
        public Integer call() throws Exception {
            StringWriter out = new StringWriter();
            Transformer t = style.newTransformer();
            t.setErrorListener(new Quiet());
            t.transform(new DOMSource(part), new StreamResult(out));
            String html = out.toString(), title = title();
            Iterations.expect(true, html.contains("<body") && squeezed(html.replaceAll("<[^>]*>", "")).contains(squeezed(title)), "the page of " + title);
            return html.length();
        }

        /** The first title or name without characters that HTML escapes. */
        String title() {
            for (String name : List.of("refname", "title")) {
                NodeList found = part.getElementsByTagName(name);
                if (found.getLength() > 0) {
                    return found.item(0).getTextContent().replaceAll("[&<>'\"\u00a0-\uffff].*", "");
                }
            }
            return "";
        }
    }

    /** Warnings, that links lead to other parts, are not printed. */
    static final class Quiet implements javax.xml.transform.ErrorListener {
        @Override
        public void warning(javax.xml.transform.TransformerException e) {
        }

        @Override
        public void error(javax.xml.transform.TransformerException e) throws javax.xml.transform.TransformerException {
            throw e;
        }

        @Override
        public void fatalError(javax.xml.transform.TransformerException e) throws javax.xml.transform.TransformerException {
            throw e;
        }
    }

    public static void main(String[] args) throws Exception {
        for (String limit : List.of("totalEntitySizeLimit", "maxGeneralEntitySizeLimit", "entityReplacementLimit", "entityExpansionLimit")) { // the manual is larger than what newer JDKs allow
            System.setProperty("jdk.xml." + limit, "0");
        }
        String share = args[0] + "/deb/usr/share/";
        TransformerFactory factory = TransformerFactory.newInstance("org.apache.xalan.processor.TransformerFactoryImpl", null);
        Templates style = factory.newTemplates(new StreamSource(new File(share + "xml/docbook/stylesheet/docbook-xsl/html/docbook.xsl")));
        List<Document> parts = parts(new File(share + "help/C/gnumeric/gnumeric.xml"), Integer.parseInt(args[3]));
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[1]));
        long[] first = new long[1];
        Iterations.run(Integer.parseInt(args[2]), i -> {
            List<Page> pages = new ArrayList<>();
            for (Document part : parts) {
                pages.add(new Page(style, part));
            }
            long length = 0;
            for (Future<Integer> f : pool.invokeAll(pages)) {
                length += f.get();
            }
            first[0] = i == 1 ? length : first[0];
            Iterations.expect(first[0], length, "characters of HTML");
        });
        pool.shutdown();
        Iterations.ok(parts.size() + " pages of " + first[0] + " characters");
    }
}
