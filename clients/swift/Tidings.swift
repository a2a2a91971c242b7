// The whole Tidings client for iOS: copy this file into your app. It needs nothing but Foundation.
// docs/guides/ios.md shows where each call belongs.

import Foundation

/// A refusal of the service. `code` is a stable word such as `device_not_found`.
struct TidingsError: Error {
    let status: Int
    let code: String
    let text: String
}

/// One device. Make `deviceId` once (`UUID().uuidString`) and keep it in the keychain or in UserDefaults.
struct Tidings: Sendable {
    let baseURL: URL
    let projectId: String
    let publicKey: String
    let deviceId: String
    /// Returns the token that your backend signs, if your project verifies identities.
    var userToken: @Sendable () -> String? = { nil }

    /// Call it at every start and in `didRegisterForRemoteNotificationsWithDeviceToken`.
    /// `sandbox`: the app was started by Xcode. A fact that is absent stays as it is; NSNull removes it.
    func register(token: Data?, allowed: Bool, sandbox: Bool = false, facts: [String: Any] = [:]) async throws {
        var entry: [String: Any] = [
            "id": deviceId,
            "platform": "IOS",
            "push_token": token.map(hex) ?? NSNull(),
            "push_token_type": "APNS",
            "push_environment": sandbox ? "sandbox" : "production",
            "app_identifier": Bundle.main.bundleIdentifier ?? NSNull(),
            "is_push_permission_granted": allowed
        ]
        entry.merge(facts) { _, fact in fact }
        try await call("POST", "/api/v1/devices", ["devices": [entry]])
    }

    /// From now on pushes to this user reach this phone. Events of before move to the user.
    func login(_ projectUserId: String) async throws {
        try await call("POST", "\(device)/user/project-user-id", ["project_user_id": projectUserId])
    }

    /// Pushes to the user no longer reach this phone.
    func logout() async throws {
        try await call("DELETE", "\(device)/user/project-user-id")
    }

    /// Texts, numbers, booleans and NSNull.
    func setProperties(_ properties: [String: Any]) async throws {
        let list = properties.map { ["name": $0.key, "value": $0.value] }
        try await call("POST", "\(device)/user/properties", ["properties": list])
    }

    /// The event has an id of its own, so a repeat after a lost response is stored once.
    func track(_ name: String, _ properties: [String: Any] = [:], messageId: String? = nil) async throws {
        let about: [String: Any] = ["message_id": messageId ?? NSNull(), "custom_properties": properties]
        let event: [String: Any] = [
            "id": UUID().uuidString, "device_id": deviceId, "name": name, "event_property": about
        ]
        try await call("POST", "/api/v1/events", ["events": [event]])
    }

    /// `userInfo["message_id"]` of a push that arrived: the message gets its `delivered_at`.
    func received(_ messageId: String) async throws {
        try await track("PUSH_NOTIFICATION_RECEIVED", messageId: messageId)
    }

    /// The person tapped the notification: the message gets its `tapped_at`.
    func tapped(_ messageId: String) async throws {
        try await track("PUSH_NOTIFICATION_TAPPED", messageId: messageId)
    }

    /// The token of `Activity<Attributes>.pushToStartTokenUpdates`. `type` is the name of the attributes' Swift type.
    func startToken(_ token: Data, type: String) async throws {
        let body: [String: Any] = ["attributes_type": type, "push_to_start_token": hex(token)]
        try await call("POST", "\(device)/live-activity-start-tokens", body)
    }

    /// The token of `activity.pushTokenUpdates`, for each running activity.
    func updateToken(_ token: Data, type: String, activityId: String) async throws {
        let body: [String: Any] = ["attributes_type": type, "activity_id": activityId, "push_token": hex(token)]
        try await call("POST", "\(device)/live-activity-update-tokens", body)
    }

    /// `opted_out`, and `topics` with true or false for each.
    func preferences() async throws -> [String: Any] {
        try await call("GET", "\(device)/preferences")
    }

    /// Changes what is given: a topic to true or false, NSNull for its default.
    @discardableResult
    func setPreferences(topics: [String: Any] = [:], optedOut: Bool? = nil) async throws -> [String: Any] {
        var change: [String: Any] = ["topics": topics]
        if let optedOut { change["opted_out"] = optedOut }
        return try await call("PATCH", "\(device)/preferences", change)
    }

    private var device: String {
        "/api/v1/devices/" + deviceId.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
    }

    private func hex(_ token: Data) -> String {
        token.map { String(format: "%02x", $0) }.joined()
    }

    /// Repeats a call that got no response, or one that says to come back. Every call here may be repeated.
    @discardableResult
    private func call(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> [String: Any] {
        let bytes = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        for wait in [500, 1_500] {
            do {
                return try await once(method, path, bytes)
            } catch let error as TidingsError where error.status != 429 && error.status < 500 {
                throw error
            } catch {
                try await Task.sleep(for: .milliseconds(wait))
            }
        }
        return try await once(method, path, bytes)
    }

    private func once(_ method: String, _ path: String, _ body: Data?) async throws -> [String: Any] {
        var request = URLRequest(url: URL(string: path, relativeTo: baseURL)!, timeoutInterval: 20)
        request.httpMethod = method
        request.setValue(projectId, forHTTPHeaderField: "X-Service-Project-ID")
        request.setValue(publicKey, forHTTPHeaderField: "X-Service-API-Key")
        if let token = userToken() { request.setValue(token, forHTTPHeaderField: "X-Service-User-Token") }
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = body
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = response as! HTTPURLResponse
        guard http.statusCode < 400 else {
            let code = http.value(forHTTPHeaderField: "X-Service-Error-Code") ?? ""
            throw TidingsError(status: http.statusCode, code: code, text: String(decoding: data, as: UTF8.self))
        }
        return (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? [:]
    }
}
