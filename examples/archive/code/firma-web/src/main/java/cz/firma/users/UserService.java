package cz.firma.users;

import java.time.Clock;
import java.time.Duration;
import java.util.Optional;

/** Who a request comes from, and what that user may do. */
public class UserService {

    private static final Duration CLOCK_SKEW = Duration.ofSeconds(30);

    private final UserModule users;
    private final TokenVerifier verifier;
    private final Clock clock;

    public UserService(UserModule users, TokenVerifier verifier, Clock clock) {
        this.users = users;
        this.verifier = verifier;
        this.clock = clock;
    }

    /**
     * The user that a JWT names. Its signature is checked before any claim is read, and it must not be older than it
     * says: up to 2.14 an expired token was let in.
     *
     * @throws LoginRefused when the token is forged or expired, or names nobody
     */
    public User authenticate(String token) {
        Claims claims = verifier.verify(token).orElseThrow(() -> new LoginRefused(Reason.FORGED));
        if (claims.expires().plus(CLOCK_SKEW).isBefore(clock.instant())) {
            throw new LoginRefused(Reason.EXPIRED);
        }
        return users.byName(claims.subject()).orElseThrow(() -> new LoginRefused(Reason.UNKNOWN));
    }

    /** Whether a user may open a page: administrators everything, others what their role lists. */
    public boolean mayOpen(User user, String page) {
        return user.isAdministrator() || user.role().pages().contains(page);
    }

    /** The user of a session that is still open, without asking for a token again. */
    public Optional<User> ofSession(String sessionId) {
        return users.sessions().find(sessionId).filter(one -> one.until().isAfter(clock.instant())).map(Session::user);
    }
}
