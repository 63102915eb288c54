import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A web server of Netty and its clients in one JVM: {@code Main THREADS CLIENTS REQUESTS}. The event loops parse the
 * requests and submit each to one of THREADS workers; the answer returns through the event loop. Every client is one
 * task that sends its share of the requests, one after the other, on one connection. The clients check each answer.
 */
public class Main {
    static String words(int n) {
        List<String> words = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            words.add(Integer.toString(i * 7919 % n, 36));
        }
        words.sort(null);
        return words.get(0) + " " + words.size();
    }

    /** Gives each request to a worker, which sorts as many words as it asks for. */
    static final class Words extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final DefaultEventExecutorGroup workers;

        Words(DefaultEventExecutorGroup workers) {
            this.workers = workers;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            int n = Integer.parseInt(new QueryStringDecoder(request.uri()).parameters().get("n").get(0));
            workers.execute(() -> {
                byte[] body = words(n).getBytes(StandardCharsets.US_ASCII);
                var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(body));
                response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
                ctx.writeAndFlush(response);
            });
        }
    }

    static Callable<Integer> client(int port, int requests) {
        return () -> {
            int right = 0;
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setTcpNoDelay(true);
                OutputStream out = socket.getOutputStream();
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                for (int i = 0; i < requests; i++) {
                    int n = 200 + i % 100;
                    out.write(("GET /words?n=" + n + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                    int length = 0;
                    for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
                        if (line.startsWith("content-length: ")) {
                            length = Integer.parseInt(line.substring(16));
                        }
                    }
                    char[] body = new char[length];
                    for (int at = 0; at < length;) {
                        at += in.read(body, at, length - at);
                    }
                    if (new String(body).equals("0 " + n)) {
                        right++;
                    }
                }
            }
            return right;
        };
    }

    public static void main(String[] args) throws Exception {
        int clients = Integer.parseInt(args[1]);
        int requests = Integer.parseInt(args[2]) / clients;
        NioEventLoopGroup loops = new NioEventLoopGroup(1);
        DefaultEventExecutorGroup workers = new DefaultEventExecutorGroup(Integer.parseInt(args[0]));
        Channel server = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16), new Words(workers));
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(pool.submit(client(port, requests)));
        }
        int right = 0;
        for (Future<Integer> f : all) {
            right += f.get();
        }
        pool.shutdown();
        server.close().sync();
        workers.shutdownGracefully();
        loops.shutdownGracefully();
        System.out.println(right + " right answers");
        System.exit(right == clients * requests ? 0 : 1);
    }
}
