import { describe, expect, test } from 'vitest'
import { answer } from '../../support/dns-server.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

/** Hosts at which nothing may be requested, even where private networks are allowed. */
const never = {
  'a metadata service': '169.254.169.254',
  'a metadata service as a number': '2852039166',
  'a metadata service in octal': '0251.0376.0251.0376',
  'a metadata service in hexadecimal': '0xa9.0xfe.0xa9.0xfe',
  'a metadata service in full-width digits': '%EF%BC%91%EF%BC%96%EF%BC%99.254.169.254',
  'a metadata service with a final dot': '169.254.169.254.',
  'a mapped metadata service': '[::ffff:169.254.169.254]',
  'a metadata service through NAT64': '[64:ff9b::169.254.169.254]',
  'this machine through NAT64': '[64:ff9b::127.0.0.1]',
  'this machine through local NAT64': '[64:ff9b:1::7f00:1]',
  'this machine through 6to4': '[2002:7f00:1::]',
  'this machine through Teredo': '[2001:0:7f00:1::1]',
  'a compatible address of this machine': '[::127.0.0.1]',
  'no address': '0.0.0.0',
  'no address in short': '0',
  'no address of IPv6': '[::]',
  'a link-local address': '[fe80::1]',
  'a name for a metadata service': 'metadata.example.com',
  'a name for a public and a forbidden address': 'mixed.example.com',
  'an alias of a forbidden name': 'alias.example.com',
}

const names = zone({
  'metadata.example.com': ['169.254.169.254'],
  'mixed.example.com': ['93.184.216.34', '169.254.169.254'],
  'alias.example.com': ['64:ff9b::a9fe:a9fe'],
})

/** Starts a server that redirects to a URL after so many redirects to itself. */
function startRedirecting(location: string, hops: number) {
  return startTcpServer((socket) => {
    socket.once('data', (request: Buffer) => {
      const hop = Number(/^GET \/(\d+)/.exec(request.toString())?.[1] ?? 0)
      const to = hop < hops ? `/${hop + 1}` : location
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ${to}\r\ncontent-length: 0\r\n\r\n`)
    })
  })
}

describe('a redirect', () => {
  test.each(Object.entries(never))('to %s is not followed, at any hop', async (_, host) => {
    for (const hops of [0, 2]) {
      const server = await startRedirecting(`http://${host}/`, hops)
      const { outbound } = await startOutbound(names)
      const url = `http://127.0.0.1:${server.port}/`
      const outcome = await outbound.request({ url, maxRedirects: 5, maxBodyBytes: 10 }, ample)
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'forbidden' })
      expect(server.connections).toBe(hops + 1)
    }
  })

  test('to an address with a zone is no URL', async () => {
    const server = await startRedirecting('http://[fe80::1%25eth0]/', 0)
    const { outbound } = await startOutbound(names)
    const url = `http://127.0.0.1:${server.port}/`
    expect(await outbound.request({ url, maxRedirects: 5, maxBodyBytes: 10 }, ample)).toMatchObject({
      reason: 'redirects',
    })
  })

  test('to a name that now has another address is checked again', async () => {
    let attempts = 0
    const server = await startRedirecting('http://rebind.example.com:3/', 0)
    const { outbound, clock } = await startOutbound((query) => {
      if (query.type === 'AAAA') return answer(query, [])
      return answer(query, [attempts === 1 ? '127.0.0.1' : '169.254.169.254'], 0)
    })
    const attempt = () => {
      clock.advance(60_000)
      attempts += 1
      const url = `http://127.0.0.1:${server.port}/`
      return outbound.request({ url, maxRedirects: 5, maxBodyBytes: 10 }, ample)
    }
    expect(await attempt()).toMatchObject({ reason: 'refused' })
    expect(await attempt()).toMatchObject({ reason: 'forbidden' })
  })
})
