package cz.firma.users;

import java.util.logging.Logger;

/** The log in form. */
public class LoginController {

    private static final Logger LOG = Logger.getLogger("cz.firma.users");
    private static final int MAX_ATTEMPTS = 5;

    private final UserService service;
    private final AttemptCounter attempts;

    public LoginController(UserService service, AttemptCounter attempts) {
        this.service = service;
        this.attempts = attempts;
    }

    /** Logs the reason of a refusal on the server; the browser is told the same whatever it was. */
    public Page logIn(Request request) {
        if (attempts.of(request.address()) >= MAX_ATTEMPTS) {
            return Page.tooManyAttempts();
        }
        try {
            return Page.home(service.authenticate(request.header("Authorization")));
        } catch (LoginRefused refused) {
            attempts.add(request.address());
            LOG.info("log in refused: " + refused.reason());
            return Page.loginAgain();
        }
    }
}
