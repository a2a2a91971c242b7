import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Fastify from 'fastify'
import { parseTrustProxy, trusts } from '../trust-proxy.ts'
import { DirectRequest } from './request.ts'

const facts = { method: 'POST', url: '/a', bodyLimit: 1, config: {} }

describe('0083: a direct request knows its client as Fastify does', () => {
  const lists = ['', '192.0.2.1', '192.0.2.1, 10.0.0.7', ' 192.0.2.1 ,10.0.0.7,127.0.0.1', '10.0.0.7,,192.0.2.1']
  for (const trust of ['false', 'true', '2', '5', 'loopback,10.0.0.0/8']) {
    it(`TRUST_PROXY=${trust}`, async () => {
      const trusted = trusts(parseTrustProxy(trust))
      const app = Fastify({ trustProxy: trusted })
      app.post('/a', async ({ ip, host, protocol }) => ({ ip, host, protocol }))
      for (const list of lists) {
        const headers = {
          host: 'inside:80',
          ...(list && { 'x-forwarded-for': list }),
          'x-forwarded-host': 'first.example, second.example',
          'x-forwarded-proto': 'http,https'
        }
        const theirs = (await app.inject({ method: 'POST', url: '/a', headers })).json()
        const socket = { remoteAddress: '127.0.0.1' } as never
        const { ip, host, protocol } = new DirectRequest({ method: 'POST', url: '/a', headers, bodyAt: 0 }, socket, {
          facts,
          params: {},
          trust: trusted
        })
        assert.deepEqual({ ip, host, protocol }, theirs, list)
      }
      await app.close()
    })
  }
})
