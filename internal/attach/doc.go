// Package attach speaks HotSpot's attach protocol: it inspects a running JVM, wakes
// its attach listener, and makes it load libraries. It works across pid namespaces,
// mount namespaces and users as far as the kernel allows. Linux only.
//
// The protocol: a file .attach_pid<PID> in the JVM's working directory and a
// SIGQUIT make the JVM listen on the socket /tmp/.java_pid<PID> (in its own
// file system, with the process id that it has in its own namespace). Each
// connection carries one request and its reply.
package attach
