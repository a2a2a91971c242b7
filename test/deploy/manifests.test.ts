import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/platform/config/config.ts'
import { version } from '../../src/platform/version.ts'
import type { Json } from '../support/http.ts'
import { root } from '../support/program.ts'
import { renderChart } from './chart.ts'

const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')
const documents = (text: string): Json[] =>
  parseAllDocuments(text).flatMap((one) => {
    assert.deepEqual(one.errors, [])
    return one.toJS() === null ? [] : [one.toJS()]
  })
const known = new Set(Object.keys(settings))
const isKnown = (name: string) => known.has(name) || name === 'NODE_ENV'
const chart = (change?: (values: Json) => void): Json[] =>
  [...renderChart(join(root, 'deploy/helm/tidings'), change)]
    .filter(([name]) => name.endsWith('.yaml'))
    .flatMap(([, text]) => documents(text))

const plain = ['tidings.yaml', 'secret.yaml', 'autoscaling.yaml'].flatMap((name) =>
  documents(read(`kubernetes/${name}`))
)
const scaled = (values: Json) => {
  values.api.autoscaling.enabled = true
}

for (const [title, objects] of [
  ['the manifests', plain],
  ['the chart, as it is', chart()],
  ['the chart, scaled by itself', chart(scaled)]
] as const) {
  const ofKind = (kind: string) => objects.filter((one) => one.kind === kind)
  const templates = [...ofKind('Deployment'), ...ofKind('Job')].map((one) => ({ one, pod: one.spec.template }))

  describe(title, () => {
    it('have a name and a version of the API for each object, and each object once', () => {
      const names = objects.map(({ apiVersion, kind, metadata }) => {
        assert.match(apiVersion, /^(v1|(apps|batch|policy|autoscaling|networking\.k8s\.io)\/v[12])$/)
        return `${kind} ${metadata.name}`
      })
      assert.equal(new Set(names).size, names.length)
      const needed = ['ConfigMap', 'Deployment', 'Ingress', 'Job', 'PodDisruptionBudget', 'Secret', 'Service']
      for (const kind of needed) assert.ok(ofKind(kind).length > 0, kind)
    })

    it('run nothing as root, and write to no file system of an image', () => {
      assert.equal(templates.length, 3)
      for (const { pod } of templates) {
        const { securityContext, automountServiceAccountToken, containers } = pod.spec
        assert.equal(automountServiceAccountToken, false)
        assert.equal(securityContext.runAsNonRoot, true)
        assert.equal(securityContext.seccompProfile.type, 'RuntimeDefault')
        for (const container of containers) {
          const own = container.securityContext
          assert.deepEqual(
            [own.allowPrivilegeEscalation, own.readOnlyRootFilesystem, own.capabilities.drop],
            [false, true, ['ALL']]
          )
          assert.ok(container.resources.requests.cpu && container.resources.limits.memory)
          const volumes = new Set(pod.spec.volumes.map(({ name }: Json) => name))
          assert.ok(container.volumeMounts.every(({ name }: Json) => volumes.has(name)))
        }
      }
    })

    it('select the pods that they make', () => {
      const labels = templates.map(({ pod }) => pod.metadata.labels)
      const selectors = [
        ...ofKind('Deployment').map((one) => one.spec.selector.matchLabels),
        ...ofKind('PodDisruptionBudget').map((one) => one.spec.selector.matchLabels),
        ...ofKind('Service').map((one) => one.spec.selector)
      ]
      for (const selector of selectors) {
        const selected = labels.filter((one) => Object.entries(selector).every(([name, text]) => one[name] === text))
        assert.equal(selected.length, 1, JSON.stringify(selector))
      }
    })

    it('ask health where the service reports it, and stop with enough time', () => {
      const config = ofKind('ConfigMap')[0]!.data
      for (const { pod } of templates.filter(({ one }) => one.kind === 'Deployment')) {
        const [container] = pod.spec.containers
        assert.equal(container.livenessProbe.httpGet.path, '/healthz')
        assert.equal(container.readinessProbe.httpGet.path, '/readyz')
        const needed = Number(config.DRAIN_SECONDS) + 2 * Number(config.SHUTDOWN_SECONDS)
        assert.ok(pod.spec.terminationGracePeriodSeconds >= needed)
        assert.ok(Number(config.DRAIN_SECONDS) > 2 * container.readinessProbe.periodSeconds - 1)
        assert.ok(['api', 'worker'].includes(container.args.at(-1)))
      }
    })

    it('set only settings that exist, from secrets and settings that are there', () => {
      const names = [...ofKind('ConfigMap').map((one) => one.data), ...ofKind('Secret').map((one) => one.stringData)]
      for (const one of names)
        assert.deepEqual(
          Object.keys(one).filter((name) => !isKnown(name)),
          []
        )
      const made = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
      for (const { pod } of templates)
        for (const { configMapRef, secretRef } of pod.spec.containers[0].envFrom)
          assert.ok(made.has(secretRef ? `Secret ${secretRef.name}` : `ConfigMap ${configMapRef.name}`))
    })

    it('lead the ingress to the service, and the autoscaler to its deployment', () => {
      const { backend } = ofKind('Ingress')[0]!.spec.rules[0].http.paths[0]
      assert.equal(backend.service.name, ofKind('Service')[0]!.metadata.name)
      for (const { spec } of ofKind('HorizontalPodAutoscaler'))
        assert.ok(ofKind('Deployment').some(({ metadata }) => metadata.name === spec.scaleTargetRef.name))
    })

    it('name the image of this version', () => {
      for (const { pod } of templates) assert.equal(pod.spec.containers[0].image, `tidings:${version}`)
    })
  })
}

describe('the chart', () => {
  it('makes the same kinds of objects as the manifests', () => {
    const kinds = (objects: Json[]) =>
      [...new Set(objects.map(({ kind }) => kind))].filter((kind) => kind !== 'Namespace')
    assert.deepEqual(kinds(chart(scaled)).sort(), kinds(plain).sort())
  })

  it('uses a secret that exists instead of one of its own', () => {
    const objects = chart((values) => {
      values.existingSecret = 'mine'
    })
    assert.equal(
      objects.some(({ kind }) => kind === 'Secret'),
      false
    )
    const deployment = objects.find(({ kind }) => kind === 'Deployment')
    assert.equal(deployment.spec.template.spec.containers[0].envFrom[1].secretRef.name, 'mine')
  })

  it('leaves the number of pods to the autoscaler, and adds further settings', () => {
    const objects = chart((values) => {
      scaled(values)
      values.settings = { LOG_LEVEL: 'debug' }
    })
    const api = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'tidings-api')
    assert.equal(api.spec.replicas, undefined)
    assert.equal(objects.find(({ kind }) => kind === 'ConfigMap').data.LOG_LEVEL, 'debug')
  })
})

for (const file of ['compose.yaml', 'compose.nodes.yaml']) {
  describe(`container/${file}`, () => {
    const { services, volumes } = parse(read(`container/${file}`), { merge: true })

    it('runs Tidings without rights, on a file system that it cannot write', () => {
      const own = Object.values<Json>(services).filter(({ image }) => image.startsWith('tidings:'))
      assert.ok(own.length > 0)
      for (const one of own) {
        assert.deepEqual([one.read_only, one.cap_drop], [true, ['ALL']])
        assert.ok(one.tmpfs.includes('/tmp'))
        assert.ok(Number.parseInt(one.stop_grace_period, 10) >= 45)
        assert.deepEqual(
          Object.keys(one.environment).filter((name) => !isKnown(name)),
          []
        )
      }
    })

    it('names services, volumes and files that are there', () => {
      for (const one of Object.values<Json>(services)) {
        for (const name of Object.keys(one.depends_on ?? {})) assert.ok(services[name], name)
        for (const volume of one.volumes ?? []) assert.ok(volume.split(':')[0] in volumes, volume)
        if (one.build) assert.ok(readFileSync(join(root, one.build.dockerfile)))
      }
    })
  })
}
