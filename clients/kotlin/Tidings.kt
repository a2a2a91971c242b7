// The whole Tidings client for Android and the JVM: copy this file into your app. It needs nothing but Kotlin.
// Every call blocks, so run it off the main thread. docs/guides/android.md shows where each call belongs.

import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.net.URLEncoder
import java.util.UUID

/** A refusal of the service. `code` is a stable word such as `device_not_found`; the message says what to do. */
class TidingsException(val status: Int, val code: String, message: String) : IOException(message)

/**
 * One device. Make `deviceId` once (`UUID.randomUUID()`) and keep it with the app's data. `userToken` returns the token that
 * your backend signs, if your project verifies identities.
 */
class Tidings(
    private val baseUrl: String,
    private val projectId: String,
    private val publicKey: String,
    private val deviceId: String,
    private val userToken: () -> String? = { null }
) {
    private val device = "/api/v1/devices/" + URLEncoder.encode(deviceId, "UTF-8").replace("+", "%20")

    /** Call it at every start and from `onNewToken`. A fact that is absent stays as it is; null removes it. */
    fun register(pushToken: String?, allowed: Boolean, facts: Map<String, Any?> = emptyMap()) {
        val entry = mapOf(
            "id" to deviceId,
            "platform" to "ANDROID",
            "push_token" to pushToken,
            "push_token_type" to "FCM",
            "is_push_permission_granted" to allowed
        )
        call("POST", "/api/v1/devices", mapOf("devices" to listOf(entry + facts)))
    }

    /** From now on pushes to this user reach this phone. Events of before move to the user. */
    fun login(projectUserId: String) {
        call("POST", "$device/user/project-user-id", mapOf("project_user_id" to projectUserId))
    }

    /** Pushes to the user no longer reach this phone. */
    fun logout() {
        call("DELETE", "$device/user/project-user-id", null)
    }

    /** Texts, numbers, booleans and null. */
    fun setProperties(properties: Map<String, Any?>) {
        val list = properties.map { (name, value) -> mapOf("name" to name, "value" to value) }
        call("POST", "$device/user/properties", mapOf("properties" to list))
    }

    /** The event has an id of its own, so a repeat after a lost response is stored once. */
    fun track(name: String, properties: Map<String, Any?> = emptyMap(), messageId: String? = null) {
        val event = mapOf(
            "id" to UUID.randomUUID().toString(),
            "device_id" to deviceId,
            "name" to name,
            "event_property" to mapOf("message_id" to messageId, "custom_properties" to properties)
        )
        call("POST", "/api/v1/events", mapOf("events" to listOf(event)))
    }

    /** `data["message_id"]` of a push that arrived: the message gets its `delivered_at`. */
    fun received(messageId: String) = track("PUSH_NOTIFICATION_RECEIVED", messageId = messageId)

    /** The person tapped the notification: the message gets its `tapped_at`. */
    fun tapped(messageId: String) = track("PUSH_NOTIFICATION_TAPPED", messageId = messageId)

    /** `{"opted_out": false, "topics": {"offers": true}}`, as JSON text. */
    fun preferences(): String = call("GET", "$device/preferences", null)

    /** Changes what is given: a topic to true or false, null for its default. */
    fun setPreferences(topics: Map<String, Boolean?> = emptyMap(), optedOut: Boolean? = null): String {
        val change = mapOf("topics" to topics) + if (optedOut == null) emptyMap() else mapOf("opted_out" to optedOut)
        return call("PATCH", "$device/preferences", change)
    }

    /** Repeats a call that got no response, or one that says to come back. Every call here may be repeated. */
    private fun call(method: String, path: String, body: Map<String, Any?>?): String {
        var waitMs = 500L
        for (attempt in 1..mostAttempts) {
            try {
                return once(method, path, body)
            } catch (error: IOException) {
                val passing = error !is TidingsException || error.status == 429 || error.status >= 500
                if (!passing || attempt == mostAttempts) throw error
            }
            Thread.sleep(waitMs)
            waitMs *= 3
        }
        throw IllegalStateException()
    }

    private fun once(method: String, path: String, body: Map<String, Any?>?): String {
        val connection = URL(baseUrl + path).openConnection() as HttpURLConnection
        connection.connectTimeout = 10_000
        connection.readTimeout = 20_000
        // Android's client knows PATCH. Java's own does not: there setPreferences ends with a ProtocolException.
        connection.requestMethod = method
        connection.setRequestProperty("X-Service-Project-ID", projectId)
        connection.setRequestProperty("X-Service-API-Key", publicKey)
        userToken()?.let { connection.setRequestProperty("X-Service-User-Token", it) }
        if (body != null) {
            connection.setRequestProperty("Content-Type", "application/json")
            connection.doOutput = true
            connection.outputStream.use { it.write(json(body).toByteArray()) }
        }
        val status = connection.responseCode
        if (status < 400) return connection.inputStream.use { it.reader().readText() }
        val text = connection.errorStream?.use { it.reader().readText() } ?: ""
        throw TidingsException(status, connection.getHeaderField("X-Service-Error-Code") ?: "", "$method $path: $status $text")
    }

    private companion object {
        const val mostAttempts = 3

        /** JSON of texts, numbers, booleans, null, lists and maps. */
        fun json(value: Any?): String = when (value) {
            null -> "null"
            is Boolean, is Int, is Long, is Short -> value.toString()
            is Number -> value.toDouble().let { if (it.isNaN() || it.isInfinite()) "null" else it.toString() }
            is Map<*, *> -> value.entries.joinToString(",", "{", "}") { (key, one) -> json(key.toString()) + ":" + json(one) }
            is Iterable<*> -> value.joinToString(",", "[", "]") { json(it) }
            else -> value.toString().map(::escaped).joinToString("", "\"", "\"")
        }

        fun escaped(char: Char): String = when {
            char == '"' || char == '\\' -> "\\" + char
            char < ' ' -> String.format("\\u%04x", char.toInt())
            else -> char.toString()
        }
    }
}
