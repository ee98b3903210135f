import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { configurationSchema, SCHEMA_PATH } from '../../src/configuration/json-schema.ts'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { testDatabase } from '../support/database.ts'
import { configuredIn } from './setup.ts'

const configured = configuredIn(await testDatabase())
afterAll(closeYamlProcess)

const validate = new Ajv2020({ strict: true, strictTypes: false }).compile(configurationSchema())

/** Returns where a file violates the schema. */
const problems = (yaml: string) =>
  validate(parse(yaml)) ? [] : (validate.errors ?? []).map(({ instancePath }) => instancePath).sort()

const yaml = `allclear: 1
groups: { core: { name: Core } }
services: { api: { name: API, group: core } }
monitors:
  http: { name: H, service: api, http: { url: "https://\${HOST}/", headers: [{ name: A, value: "\${TOKEN}" }, { name: Accept, value: text/html }], body: x, method: POST } }
  tcp: { name: T, dependsOn: [http], tcp: { host: example.com, port: 5432, send: "EHLO" } }
  dns: { name: D, dns: { name: example.com, recordType: MX, expected: [10 mail.example.com.] } }
  ping: { name: P, ping: { host: example.com } }
  job: { name: J, heartbeat: { graceSeconds: 60 } }
  list: { name: L, blacklist: { target: 203.0.113.7 } }
channels:
  boss: { name: Boss, mail: { address: boss@example.com } }
  team: { name: Team, ntfy: { topic: "\${TOKEN}" }, when: [DOWN], escalate: { channel: boss, afterMinutes: 5 } }
  hook: { name: Hook, webhook: { url: "https://hooks.example.com/\${TOKEN}" }, quietTimes: { windows: [{ days: [MONDAY], from: "22:00", to: "06:00" }] } }
templates:
  slow: { kind: INCIDENT, name: Slow, message: "{{service}} is slow.", impact: MINOR, services: [{ service: api, status: DEGRADED_PERFORMANCE }] }
  work: { kind: MAINTENANCE, name: Work, message: Soon., services: [api], translations: [{ language: DE, message: Bald. }] }
objectives:
  api: { service: api, target: 99.9, windowDays: 30 }
`
const variables = [
  { name: 'HOST', value: 'example.com' },
  { name: 'TOKEN', value: 'abc' },
]

test('a file and its export conform to the JSON Schema, which the export names for editors', async () => {
  expect(problems(yaml)).toEqual([])
  const tenant = await configured.tenant()
  await configured.apply(tenant, yaml, { variables })
  const exported = await configured.export(tenant)
  expect(problems(exported)).toEqual([])
  expect(exported.split('\n')[0]).toMatch(new RegExp(`^# yaml-language-server: \\$schema=https?://.*${SCHEMA_PATH}$`))
})

test.each([
  ['services: {}', ''],
  ['allclear: 1\nservices: { api: { names: API } }', '/services/api'],
  ['allclear: 1\nservices: { API: { name: API } }', '/services'],
  ['allclear: 1\nmonitors: { a: { name: A, http: { uri: x } } }', '/monitors/a/http'],
  ['allclear: 1\nmonitors: { a: { name: A, ping: { host: a, count: 9 } } }', '/monitors/a/ping/count'],
  ['allclear: 1\nmonitors: { a: { name: A, dns: { name: a, recordType: X } } }', '/monitors/a/dns/recordType'],
  ['allclear: 1\nchannels: { a: { name: A, ntfy: { topics: a } } }', '/channels/a/ntfy'],
  ['allclear: 1\nchannels: { a: { name: A, when: [SOON] } }', '/channels/a/when/0'],
  ['allclear: 1\ntemplates: { a: { kind: NOTE, name: A, message: b } }', '/templates/a/kind'],
  ['allclear: 1\nobjectives: { a: { service: a, target: high } }', '/objectives/a/target'],
])('the schema rejects %j', (text, place) => {
  expect(problems(text)).toContain(place)
})
