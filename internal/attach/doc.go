// Package attach speaks HotSpot's attach protocol: it finds out what a running
// JVM is and what stands in the way, wakes the JVM's attach listener, and has
// libraries loaded. It works from another pid namespace, mount namespace or
// user, as far as the kernel allows. Linux only.
//
// The protocol: a file .attach_pid<PID> in the JVM's working directory and a
// SIGQUIT make the JVM listen on the socket /tmp/.java_pid<PID> (in its own
// file system, with the process id that it has in its own namespace). Each
// connection carries one request and its reply.
package attach
