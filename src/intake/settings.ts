/** The settings that browser and mobile SDKs read before they send: nothing but the address of this service. */
export function settingsFor(writeKey: string, baseUrl: string) {
  const { protocol, host, pathname } = new URL(baseUrl)
  const on = { __default: { enabled: true, integrations: {} } }
  return {
    integrations: {
      'Segment.io': {
        apiKey: writeKey,
        apiHost: `${host}${pathname.replace(/\/$/, '')}/v1`,
        protocol: protocol.replace(':', ''),
        unbundledIntegrations: [],
        addBundledMetadata: false,
        maybeBundledConfigIds: {},
        versionSettings: { version: '4.4.7', componentTypes: ['browser'] }
      }
    },
    plan: { track: on, identify: on, group: on },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    metrics: { sampleRate: 0 },
    legacyVideoPluginsEnabled: false,
    remotePlugins: []
  }
}
