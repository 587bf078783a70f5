package dev.idp.junit;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.ToNumberPolicy;

/** JSON as maps, lists, strings, numbers (Long or Double) and booleans. */
final class Json {
    private static final Gson GSON = new GsonBuilder()
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
            .serializeNulls()
            .disableHtmlEscaping()
            .create();

    private Json() {}

    static Object read(String text) {
        return GSON.fromJson(text, Object.class);
    }

    static String write(Object value) {
        return GSON.toJson(value);
    }
}
