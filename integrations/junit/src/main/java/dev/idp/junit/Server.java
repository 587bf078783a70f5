package dev.idp.junit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext.Store;

/**
 * The server of a test process, in memory and on a free port. Its standard input is a pipe that the system closes when this process ends,
 * and then it ends.
 */
final class Server implements Store.CloseableResource {
    private static final List<String> START =
            List.of("start", "--memory", "--port", "0", "--json", "--until-stdin-closes");
    /** How long the server may take to start and to stop, in seconds. */
    private static final int PATIENCE = 60;

    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)");

    private final Process process;
    private final Idp first;
    private final AtomicInteger made = new AtomicInteger();

    private Server(Process process, Idp first) {
        this.process = process;
        this.first = first;
    }

    static Server start() {
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        String adminToken = HexFormat.of().formatHex(random);
        List<String> command = new ArrayList<>(findCommand());
        command.addAll(START);
        try {
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().put("IDP_ADMIN_TOKEN", adminToken);
            Process process = builder.start();
            CompletableFuture<String> errors = CompletableFuture.supplyAsync(() -> readAll(process.getErrorStream()));
            CompletableFuture<Void> late = CompletableFuture.runAsync(
                    process::destroyForcibly, CompletableFuture.delayedExecutor(PATIENCE, TimeUnit.SECONDS));
            BufferedReader output = process.inputReader();
            String line = output.readLine();
            late.cancel(false);
            String issuer = issuerOf(line);
            if (issuer == null) {
                process.destroyForcibly();
                throw new IdpException(
                        String.join(" ", command) + " did not start a server. It wrote: " + errors.join().strip());
            }
            // The log of requests. A pipe that nobody reads would stop the server.
            Thread log = new Thread(() -> output.lines().forEach(request -> {}), "idp log");
            log.setDaemon(true);
            log.start();
            return new Server(process, new Idp(issuer, adminToken));
        } catch (IOException error) {
            throw new IdpException(command.get(0) + " cannot be run: " + error.getMessage(), error);
        }
    }

    private static String issuerOf(String line) {
        try {
            return Json.read(line) instanceof Map<?, ?> ready && ready.get("issuer") instanceof String issuer ? issuer : null;
        } catch (RuntimeException notJson) {
            return null;
        }
    }

    static String readAll(InputStream stream) {
        try (stream) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException closed) {
            return "";
        }
    }

    /** The words of the command: DEV_IDP, else dev-idp on PATH, or in node_modules/.bin of this folder or one above it. */
    static List<String> findCommand() {
        String named = System.getenv().getOrDefault("DEV_IDP", "").strip();
        Path here = Path.of("").toAbsolutePath();
        if (!named.isEmpty()) {
            // A path may contain spaces.
            List<String> words = onPath(named).isEmpty() ? wordsOf(named) : List.of(named);
            if (onPath(words.get(0)).isEmpty()) {
                throw new IdpException("DEV_IDP is \"" + named + "\", but there is no command \"" + words.get(0)
                        + "\". Set it to the path of dev-idp.");
            }
            return words;
        }
        return Stream.concat(
                        onPath("dev-idp").stream(),
                        Stream.iterate(here, folder -> folder != null, Path::getParent)
                                .flatMap(folder -> executable(folder.resolve("node_modules/.bin/dev-idp"))))
                .findFirst()
                .map(program -> List.of(program.toString()))
                .orElseThrow(() -> new IdpException("dev-idp was not found on PATH, or in node_modules/.bin of " + here
                        + " and the folders above it. Install it with Node.js 20.19 or newer: npm install --save-dev dev-idp."
                        + " Or set DEV_IDP to the path of its command."));
    }

    private static List<String> wordsOf(String text) {
        return WORD.matcher(text)
                .results()
                .map(match -> Stream.of(1, 2, 3).map(match::group).filter(group -> group != null).findFirst().orElse(""))
                .toList();
    }

    private static List<Path> onPath(String program) {
        if (program.contains("/") || program.contains("\\")) return executable(Path.of(program)).toList();
        String folders = System.getenv().getOrDefault("PATH", "");
        return Arrays.stream(folders.split(java.io.File.pathSeparator))
                .flatMap(folder -> executable(Path.of(folder, program)))
                .toList();
    }

    /** The file itself, or on Windows that with an extension, if it can be run. */
    private static Stream<Path> executable(Path file) {
        return Stream.of("", ".cmd", ".exe")
                .map(extension -> file.resolveSibling(file.getFileName() + extension))
                .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path));
    }

    /** The fixtures of a file, as the API takes them. */
    static Map<String, Object> file(String path) {
        try {
            return source(path, Files.readString(Path.of(path)));
        } catch (IOException error) {
            throw new UncheckedIOException("the fixture file " + path + " cannot be read", error);
        }
    }

    static Map<String, Object> source(String name, String text) {
        return Map.of("sources", List.of(Map.of("name", name, "text", text)));
    }

    Idp newIssuer(Map<String, Object> fixtures) {
        Map<String, Object> body = Idp.merged(Map.of("name", "t" + made.incrementAndGet()), fixtures);
        return new Idp((String) Idp.object(first.call("POST", "issuers", body)).get("issuer"), first.adminToken());
    }

    void removeIssuer(Idp idp) {
        first.call("DELETE", "issuers/" + idp.issuer().substring(idp.issuer().lastIndexOf('/') + 1), null);
    }

    /** Stops the server and waits for it to end. */
    @Override
    public void close() throws Exception {
        process.getOutputStream().close();
        if (!process.waitFor(PATIENCE, TimeUnit.SECONDS)) process.destroyForcibly();
    }
}
