import { expect, test } from 'vitest'
import { isPublicName } from '../../src/network/public-name.ts'

test.each([
  'example.com',
  'a.b.example.co.uk',
  '_dmarc.example.com',
  'someone.github.io',
  'com',
  'xn--bcher-kva.example.de',
  '1.0.0.8.in-addr.arpa',
  '8.in-addr.arpa',
  '172.in-addr.arpa',
  '0-127.8.8.8.in-addr.arpa',
  '0.0.0.0.0.6.8.4.1.0.0.2.ip6.arpa',
])('%s belongs to the public DNS', (name) => {
  expect(isPublicName(name)).toBe(true)
})

test.each([
  'localhost',
  'intranet',
  'db.internal',
  'kubernetes.default.svc.cluster.local',
  'consul.service.consul',
  'nas.lan',
  'mail.corp',
  'a.test',
  'printer.home.arpa',
  'home.arpa',
  'resolver.arpa',
  '_dns.resolver.arpa',
  'x.service.arpa',
  'a.onion',
  'onion',
  'b.invalid',
  'c.alt',
  '1.0.0.10.in-addr.arpa',
  '10.in-addr.arpa',
  'host.7.10.in-addr.arpa',
  '168.192.in-addr.arpa',
  '5.16.172.in-addr.arpa',
  '64.100.in-addr.arpa',
  '254.169.in-addr.arpa',
  '1.0.0.127.in-addr.arpa',
  'd.f.ip6.arpa',
  '1.0.0.f.e.f.ip6.arpa',
  '0.8.e.f.ip6.arpa',
  '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa',
])('%s does not', (name) => {
  expect(isPublicName(name)).toBe(false)
})
