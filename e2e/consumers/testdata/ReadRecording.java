import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.openjdk.jmc.common.IMCType;
import org.openjdk.jmc.common.item.Attribute;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.flightrecorder.IParserStats;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.IRule;
import org.openjdk.jmc.flightrecorder.rules.RuleRegistry;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit;

/**
 * Reads a recording with Mission Control's own parser and runs its rules. Prints a line for each type with the number of
 * events and their summed duration in ns, a line for each class of stackagent.Task, and a line for each rule.
 */
public final class ReadRecording {
	public static void main(String[] args) throws Exception {
		IItemCollection events = JfrLoaderToolkit.loadEvents(new File(args[0]));
		Map<String, long[]> types = new TreeMap<>(), classes = new TreeMap<>();
		for (IItemIterable items : events) {
			String type = items.getType().getIdentifier();
			IMemberAccessor<IQuantity, IItem> duration = JfrAttributes.DURATION.getAccessor(items.getType());
			IMemberAccessor<IMCType, IItem> of = Attribute.attr("taskClass", "Task Class", UnitLookup.CLASS).getAccessor(items.getType());
			for (IItem item : items) {
				long ns = duration == null ? 0 : duration.getMember(item).longValueIn(UnitLookup.NANOSECOND);
				add(types, type, ns);
				if (type.equals("stackagent.Task"))
					add(classes, of.getMember(item).getFullName(), ns);
			}
		}
		// What the parser read. The lists above hold events that overlap in as many rows as they need; with hundreds of rows their
		// counts differ from this in JMC 9.1.1.
		((IParserStats) events).forEachEventType(x -> System.out.println("parsed\t" + x.getName() + "\t" + x.getCount()));
		System.out.println("skipped\t" + ((IParserStats) events).getSkippedEventCount());
		types.forEach((k, v) -> System.out.println("type\t" + k + "\t" + v[0] + "\t" + v[1]));
		classes.forEach((k, v) -> System.out.println("class\t" + k + "\t" + v[0] + "\t" + v[1]));
		// As Mission Control does: rules whose events are missing or off are ignored, those that need others run after these.
		Map<IRule, Future<IResult>> rules = RulesToolkit.evaluateParallel(RuleRegistry.getRules(), events, IPreferenceValueProvider.DEFAULT_VALUES, 1);
		for (Map.Entry<IRule, Future<IResult>> e : rules.entrySet()) {
			try {
				System.out.println("rule\t" + e.getKey().getId() + "\t" + e.getValue().get().getSeverity());
			} catch (ExecutionException x) {
				System.out.println("failed\t" + e.getKey().getId() + "\t" + x.getCause());
			}
		}
		System.exit(0);
	}

	private static void add(Map<String, long[]> to, String key, long ns) {
		long[] sum = to.computeIfAbsent(key, k -> new long[2]);
		sum[0]++;
		sum[1] += ns;
	}
}
