import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

/**
 * Counts the primes of RANGES ranges by coroutines: a producer sends the ranges through a channel to eight
 * workers; a coroutine of its own counts half of each range, the I/O dispatcher the other half.
 */
const val STEP = 400

fun primes(from: Int, to: Int): Int = (from until to).count { n -> n > 1 && (2..Math.sqrt(n.toDouble()).toInt()).none { n % it == 0 } }

suspend fun range(from: Int): Int = coroutineScope {
    val half = async { primes(from, from + STEP / 2) }
    delay(1)
    half.await() + withContext(Dispatchers.IO) { primes(from + STEP / 2, from + STEP) }
}

fun main(args: Array<String>) = runBlocking(Dispatchers.Default) {
    val ranges = args[0].toInt()
    val todo = Channel<Int>(16)
    launch {
        for (i in 0 until ranges) todo.send(i * STEP)
        todo.close()
    }
    val workers = List(8) {
        async {
            var sum = 0
            for (from in todo) sum += range(from)
            sum
        }
    }
    println("${workers.awaitAll().sum()} primes below ${ranges * STEP}")
}
