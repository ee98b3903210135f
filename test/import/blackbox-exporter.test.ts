import { describe, expect, test } from 'vitest'
import { translateBlackboxExporter } from '../../src/import/blackbox-exporter.ts'
import { Unreadable } from '../../src/import/translation.ts'
import { plainOf } from './setup.ts'

const translated = (text: string) => plainOf(translateBlackboxExporter(text))

const MODULES = `---
modules:
  http_2xx:
    prober: http
    timeout: 5s
    http: { preferred_ip_protocol: ip4 }
  api:
    prober: http
    http:
      valid_status_codes: [200, 204]
      method: POST
      headers: { X-A: b }
      body: '{}'
      follow_redirects: false
      basic_auth: { username: u, password: p }
      tls_config: { insecure_skip_verify: true, ca_file: /ca.pem }
      fail_if_body_not_matches_regexp: ["ok"]
      fail_if_body_matches_regexp: ["error"]
      fail_if_header_not_matches: [{ header: Server, regexp: nginx }]
      ip_protocol_fallback: false
      preferred_ip_protocol: ip4
      valid_http_versions: ["HTTP/2.0"]
  tcp_connect: { prober: tcp }
  pop3s_banner:
    prober: tcp
    tcp: { query_response: [{ expect: '^\\+OK' }], tls: true, tls_config: { insecure_skip_verify: true } }
  irc_banner:
    prober: tcp
    tcp: { query_response: [{ send: "NICK prober" }, { expect: "PING :([^ ]+)", send: "PONG \${1}" }] }
  icmp: { prober: icmp, icmp: { ttl: 5 } }
  dns_soa: { prober: dns, dns: { query_name: example.com, query_type: SOA, transport_protocol: tcp } }
  grpc: { prober: grpc, grpc: { service: shop, tls: true } }
  socket: { prober: unix }
  unused: { prober: http }
`
const relabelling = `
    relabel_configs:
      - { source_labels: [__address__], target_label: __param_target }
      - { source_labels: [__param_target], target_label: instance }
      - { target_label: __address__, replacement: "127.0.0.1:9115" }`
const job = (name: string, module: string, target: string, more = '') => `
  - job_name: ${name}
    metrics_path: /probe
    params: { module: [${module}] }
    static_configs: [{ targets: ["${target}"] }]${more}`

describe('modules of the blackbox exporter and the targets of Prometheus', () => {
  test('become groups, services and monitors', () => {
    const { groups, monitors, services, notes } = translated(`${MODULES}
---
global: { scrape_interval: 30s, evaluation_interval: 1m }
scrape_configs:
  - { job_name: prometheus, static_configs: [{ targets: ["localhost:9090"] }] }
  - job_name: web
    metrics_path: /probe
    scrape_interval: 2m
    params: { module: [http_2xx] }
    static_configs:
      - targets: ["https://example.com", "example.org"]
        labels: { team: shop }
      - targets: ["https://api.example.com"]
        labels: { module: api }
    file_sd_configs: [{ files: [a.yml] }]
    ${relabelling.trim()}${job('port', 'tcp_connect', 'db.example.com:5432')}${job('mail', 'pop3s_banner', 'mail.example.com:995')}
${job('chat', 'irc_banner', '[2001:db8::1]:6667')}${job('gate', 'icmp', 'gate.example.com')}${job('zone', 'dns_soa', '192.0.2.1:53')}
${job('rpc', 'grpc', 'rpc.example.com:50051')}${job('file', 'socket', '/run/a.sock')}${job('lost', 'missing', 'a.example')}`)
    expect(Object.values(groups ?? {}).map(({ name }) => name)).toEqual([
      ...['web', 'port', 'mail', 'chat', 'gate', 'zone', 'rpc'],
    ])
    expect(Object.values(monitors ?? {})).toMatchObject([
      { name: 'https://example.com', intervalSeconds: 120, timeoutMs: 5000, http: { url: 'https://example.com' } },
      { name: 'example.org', http: { url: 'http://example.org' } },
      {
        timeoutMs: 10_000,
        http: {
          ...{ url: 'https://api.example.com', method: 'POST', body: '{}', expectedStatus: ['200', '204'] },
          ...{ maxRedirects: 0, verifyCertificate: false, ipVersion: 4, keyword: { text: 'ok', isRegex: true } },
          headers: [
            { name: 'X-A', value: 'b' },
            { name: 'Authorization', value: 'Basic dTpw' },
          ],
          expectedHeaders: [{ name: 'Server', matches: 'nginx' }],
        },
      },
      { intervalSeconds: 30, tcp: { host: 'db.example.com', port: 5432 } },
      { tcp: { host: 'mail.example.com', port: 995, tls: true, expect: '+OK', verifyCertificate: false } },
      { tcp: { host: '2001:db8::1', port: 6667 } },
      { ping: { host: 'gate.example.com' } },
      { dns: { name: 'example.com', recordType: 'SOA', resolver: '192.0.2.1:53' } },
      { grpc: { host: 'rpc.example.com', port: 50_051, tls: true, service: 'shop' } },
    ])
    expect(Object.keys(services ?? {})).toEqual(Object.keys(monitors ?? {}))
    expect(notes).toEqual([
      'SKIPPED monitors prometheus: It does not use the blackbox exporter: its metrics_path is not /probe.',
      'PARTLY monitors https://api.example.com: It is probed without the pattern error.',
      'PARTLY monitors [2001:db8::1]:6667: It is probed without its dialogue of texts to send and expect.',
      'SKIPPED monitors /run/a.sock: Allclear has no monitors for the prober unix of this target.',
      'SKIPPED monitors a.example: Its module missing is not in the file.',
      'SKIPPED monitors module unused: No target in scrape_configs uses it.',
      'PARTLY monitors modules.api.http.tls_config.ca_file: It is in a file on the exporter’s machine, which is not read.',
      'PARTLY monitors modules.api.http.valid_http_versions: Any version of HTTP counts as up.',
      'PARTLY monitors modules.icmp.icmp.ttl: The TTL of packets is not imported.',
      'PARTLY monitors modules.dns_soa.dns.transport_protocol: DNS is queried over UDP here, and over TCP if the answer is long.',
      'PARTLY settings global.evaluation_interval: This is a setting of Prometheus.',
      'PARTLY monitors scrape_configs.static_configs.labels.team: Labels are not imported. In web.',
      'PARTLY monitors scrape_configs.file_sd_configs: Targets that Prometheus finds by itself are not imported. Its keys: files. In web.',
    ])
  })

  test('modules without targets become nothing, with a note on each', () => {
    const { monitors, notes } = translated(MODULES)
    expect(monitors).toBeUndefined()
    expect(notes).toHaveLength(10)
    expect(notes[0]).toBe('SKIPPED monitors module http_2xx: No target in scrape_configs uses it.')
  })

  test('relabelling that changes targets is listed as lost', () => {
    const more = `
    relabel_configs: [{ source_labels: [__address__], regex: (.*), target_label: __param_target, replacement: "https://$1" }]`
    const { notes } = translated(`modules: { m: { prober: icmp } }\nscrape_configs:${job('a', 'm', 'a.example', more)}`)
    expect(notes.join('\n')).toContain('regex')
  })

  test.each(['', 'modules: {}', 'scrape_configs: []', '[]', 'a: ['])('%j is refused', (text) => {
    expect(() => translateBlackboxExporter(text)).toThrow(Unreadable)
  })
})
