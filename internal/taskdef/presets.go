package taskdef

import (
	"maps"
	"slices"
	"strings"
)

// A Preset is a definition by the name of a framework, @kafka for example. It stands for Definitions.
type Preset struct {
	What        string // what its executions are, for people
	Definitions []string
}

// servlet is what web servers call for each request.
var servlet = []string{
	"jakarta.servlet.Servlet#service(Ljakarta/servlet/ServletRequest;Ljakarta/servlet/ServletResponse;)V",
	"javax.servlet.Servlet#service(Ljavax/servlet/ServletRequest;Ljavax/servlet/ServletResponse;)V",
}

var presets = map[string]Preset{
	"@coroutines": {"Kotlin coroutines: each resumption, under the coroutine's class",
		[]string{"kotlin.coroutines.jvm.internal.BaseContinuationImpl#resumeWith"}},
	"@disruptor": {"LMAX Disruptor: each event", []string{"com.lmax.disruptor.EventHandler#onEvent"}},
	"@httpserver": {"the JDK's HttpServer: each request, under its handler's class",
		[]string{"com.sun.net.httpserver.HttpHandler#handle"}},
	"@jetty": {"Jetty: each call of a handler or servlet", append([]string{
		"org.eclipse.jetty.server.Request$Handler#handle", "org.eclipse.jetty.server.handler.AbstractHandler#handle"}, servlet...)},
	"@kafka": {"Kafka brokers: each request, each event of a queue", []string{
		"kafka.server.ApiRequestHandler#handle", "org.apache.kafka.server.ApiRequestHandler#handle",
		"org.apache.kafka.queue.EventQueue$Event#run()V"}},
	"@netty": {"Netty: each message, under the handler's class", []string{
		"io.netty.channel.SimpleChannelInboundHandler#channelRead0", "io.netty.channel.ChannelInboundHandler#channelRead"}},
	"@pekko": {"Pekko and Akka: each message of an actor, under the actor's class", []string{
		"org.apache.pekko.actor.Actor#aroundReceive", "akka.actor.Actor#aroundReceive"}},
	"@reactor": {"Reactor: each value that reaches a subscriber of the program", []string{
		"reactor.core.publisher.BaseSubscriber#hookOnNext", "reactor.core.publisher.LambdaSubscriber#onNext", "reactor.core.publisher.LambdaMonoSubscriber#onNext"}},
	"@servlet": {"servlets of any server: each request, under the servlet's class", servlet},
	"@spark":   {"Spark: each task, as Spark counts them", []string{"org.apache.spark.scheduler.Task#run"}},
	"@tomcat":  {"Tomcat: each request, under the servlet's class", servlet},
}

// PresetNames are the names of all presets in their order.
func PresetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// PresetOf is the preset of a name.
func PresetOf(name string) (Preset, bool) {
	p, ok := presets[name]
	return p, ok
}

// Expand gives the definitions that a value of task= stands for: those of a preset, else the value itself.
func Expand(value string) []string {
	if p, ok := presets[value]; ok {
		return p.Definitions
	}
	return []string{value}
}

// Check says what is wrong with a value of task=, a definition or a preset; "" if nothing is.
func Check(value string) string {
	if strings.HasPrefix(value, "@") {
		if _, ok := presets[value]; !ok {
			return "no preset has that name; there are " + strings.Join(PresetNames(), ", ")
		}
		return ""
	}
	if _, problem := Parse(value); problem != "" {
		return problem + "; want CLASS#METHOD or CLASS#METHOD(DESCRIPTOR), for example com.acme.Job#process(Lcom/acme/Ctx;)V, or a preset such as @kafka"
	}
	return ""
}
