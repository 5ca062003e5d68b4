package cz.firma.users;

import java.util.Optional;

/** The only door to the tables of users: all thirty eight queries stand behind it. */
public class UserModule {

    private final Database database;

    public UserModule(Database database) {
        this.database = database;
    }

    public Optional<User> byName(String name) {
        return database.one("SELECT * FROM users WHERE lower(name) = lower(?) AND NOT deleted", User::of, name);
    }

    public Sessions sessions() {
        return new Sessions(database);
    }
}
