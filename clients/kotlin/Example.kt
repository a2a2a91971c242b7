// Calls everything that Tidings.kt has, against a running service:
//   kotlinc Tidings.kt Example.kt -include-runtime -d example.jar
//   java -jar example.jar http://127.0.0.1:8080 demo svc_pk_… my-phone

import java.net.ProtocolException

fun main(args: Array<String>) {
    val (baseUrl, projectId, publicKey, deviceId) = args
    val tidings = Tidings(baseUrl, projectId, publicKey, deviceId)
    tidings.register("fcm-token-of-$deviceId", true, mapOf("app_version" to "2.4.0", "timezone" to "Europe/Berlin"))
    tidings.login("ana")
    tidings.setProperties(mapOf("plan" to "premium", "age" to 31, "vip" to true, "note" to "a \"quote\"\nand ümläuts", "gone" to null))
    tidings.track("purchase", mapOf("amount" to 12.5, "items" to listOf("a", "b")))
    tidings.received("01890000-0000-7000-8000-000000000000")
    tidings.tapped("01890000-0000-7000-8000-000000000000")
    println(tidings.preferences())
    try {
        println(tidings.setPreferences(optedOut = true))
    } catch (_: ProtocolException) {
        println("PATCH needs Android's client")
    }
    try {
        Tidings(baseUrl, projectId, "svc_pk_wrong", deviceId).logout()
    } catch (error: TidingsException) {
        println("${error.status} ${error.code}")
    }
    tidings.logout()
}
