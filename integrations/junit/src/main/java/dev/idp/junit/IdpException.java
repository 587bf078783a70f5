package dev.idp.junit;

/** A refusal of the server, with its hint, or a server that does not start. */
public final class IdpException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    IdpException(String message) {
        super(message);
    }

    IdpException(String message, Throwable cause) {
        super(message, cause);
    }
}
