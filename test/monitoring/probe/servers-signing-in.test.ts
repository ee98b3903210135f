// @slow
import { execFileSync } from 'node:child_process'
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { type Document, deserialize, serialize } from 'bson'
import { describe, expect, test } from 'vitest'
import type { ProbedKind } from '../../../src/monitoring/monitor/probe-kinds.ts'
import { probes } from '../../../src/monitoring/monitor/probe-kinds.ts'
import type { Probe } from '../../../src/monitoring/probe/probe.ts'
import { startScram } from '../../../src/monitoring/probe/scram.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { zone } from '../../network/outbound/setup.ts'
import { createAuthority } from '../../support/certificate.ts'
import { freePort } from '../../support/free-port.ts'
import { scratchFolder, startProgram } from '../../support/program.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { runWith, startTools } from './run.ts'

const authority = createAuthority()

async function run(kind: ProbedKind, given: object, timeoutMs = 5000) {
  const { tools } = await startTools(zone({}))
  const outbound = createOutbound({ dns: tools.dns, allowPrivate: true, ca: authority.ca })
  const probe: Probe = probes[kind]
  return probe.run(probe.options.parse({ host: '127.0.0.1', ...given }), runWith({ ...tools, outbound }, { timeoutMs }))
}

const matching = (outcome: string, message: RegExp) => ({ outcome, message: expect.stringMatching(message) })

describe('SCRAM-SHA-256', () => {
  const challenge = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096'

  test('signs in as in RFC 7677', async () => {
    const scram = startScram('user', 'pencil', 'rOprNGfwEbeRWgbNEkqO')
    expect(scram.first).toBe('n,,n=user,r=rOprNGfwEbeRWgbNEkqO')
    expect(await scram.answer(challenge)).toBe(
      'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    )
    scram.verify('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=')
    for (const wrong of ['v=', 'v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=', 'e=other-error', ''])
      expect(() => scram.verify(wrong)).toThrow('The server does not prove that it knows the password')
  })

  test('escapes names, and prepares names and passwords with SASLprep', async () => {
    expect(startScram('a=b,c', '', 'x').first).toBe('n,,n=a=3Db=2Cc,r=x')
    expect(startScram('I\u00adX', '', 'x').first).toBe('n,,n=IX,r=x')
    expect(startScram('\u2168', '', 'x').first).toBe('n,,n=IX,r=x')
    expect(startScram('a\u00a0b', '', 'x').first).toBe('n,,n=a b,r=x')
  })

  test.each([
    ['', 'invalid challenge'],
    ['r=other,s=W22Z,i=4096', 'invalid challenge'],
    ['r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096', 'invalid challenge'],
    ['r=rOprNGfwEbeRWgbNEkqOx,s=,i=4096', 'invalid challenge'],
    ['r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=4095', 'invalid challenge'],
    ['r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=-1', 'invalid challenge'],
    ['r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1e9', 'invalid challenge'],
    ['r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=100001', 'too many iterations'],
    ['r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=999999999', 'too many iterations'],
  ])('refuses the challenge %j', async (given, message) => {
    await expect(startScram('user', 'pencil', 'rOprNGfwEbeRWgbNEkqO').answer(given)).rejects.toThrow(message)
  })
})

describe('a MongoDB server with users', () => {
  const users: Readonly<Record<string, string>> = { ana: 's3cret' }

  /**
   * Starts a server that requires SCRAM-SHA-256 and answers commands. `proves`: whether it proves that it knows the
   * password.
   */
  async function serve({ proves = true } = {}) {
    const asked: string[] = []
    const { port } = await startTcpServer((socket) => {
      const client = { isSignedIn: false, bare: '', challenge: '' }
      socket.on('data', (data: Buffer) => {
        const command = deserialize(data.subarray(21), { promoteBuffers: true })
        const [name = ''] = Object.keys(command)
        asked.push(`${command['$db']}.${name}`)
        const document = serialize(answer(client, name, command, proves))
        const head = Buffer.alloc(21)
        head.writeInt32LE(head.length + document.length)
        head.writeInt32LE(data.readInt32LE(4), 8)
        head.writeInt32LE(2013, 12)
        socket.write(Buffer.concat([head, document]))
      })
    })
    return { port, asked }
  }

  interface Client {
    isSignedIn: boolean
    bare: string
    challenge: string
  }

  const refused = (errmsg: string): Document => ({ ok: 0, errmsg })

  function answer(client: Client, name: string, command: Document, proves: boolean): Document {
    const payload = String(command['payload'] ?? '')
    if (name === 'hello') return { isWritablePrimary: true, ok: 1 }
    if (name === 'saslStart') {
      client.bare = payload.slice(3)
      client.challenge = `${client.bare.replace(/^.*,r=/, 'r=')}more,s=${Buffer.from('salt').toString('base64')},i=4096`
      return { conversationId: 7, payload: Buffer.from(client.challenge), done: false, ok: 1 }
    }
    if (name === 'saslContinue' && command['conversationId'] === 7) return signIn(client, payload, proves)
    if (!client.isSignedIn && name !== 'ping') return refused('command requires authentication')
    return name === 'fail' ? refused('no such command') : { ok: 1, n: 3 }
  }

  function signIn(client: Client, payload: string, proves: boolean): Document {
    const [, user = ''] = /^n=([^,]*)/.exec(client.bare) ?? []
    const salted = pbkdf2Sync(users[user] ?? '', 'salt', 4096, 32, 'sha256')
    const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
    const signed = `${client.bare},${client.challenge},${payload.replace(/,p=.*$/, '')}`
    const key = hmac(salted, 'Client Key')
    const mask = hmac(createHash('sha256').update(key).digest(), signed)
    const proof = Buffer.from(key.map((byte, index) => byte ^ (mask[index] ?? 0))).toString('base64')
    if (!payload.endsWith(`,p=${proof}`)) return refused('Authentication failed.')
    client.isSignedIn = true
    const signature = proves ? hmac(hmac(salted, 'Server Key'), signed) : Buffer.alloc(32)
    return { payload: Buffer.from(`v=${signature.toString('base64')}`), done: true, ok: 1 }
  }

  test('signs a user in, and runs a command in its database', async () => {
    const { port, asked } = await serve()
    const ana = { port, user: 'ana', password: 's3cret' }
    expect(await run('MONGODB', ana)).toMatchObject(matching('UP', /^Standalone server in/))
    expect(asked).toEqual(['admin.hello', 'admin.saslStart', 'admin.saslContinue', 'admin.ping'])
    asked.length = 0
    const shop = {
      ...ana,
      authDatabase: 'users',
      database: 'shop',
      command: '{"count": "orders", "query": {"a": [1]}}',
    }
    expect(await run('MONGODB', shop)).toMatchObject({ outcome: 'UP' })
    expect(asked).toEqual(['admin.hello', 'users.saslStart', 'users.saslContinue', 'shop.count'])
  })

  test('is DOWN when it refuses the user or the command, or does not prove that it knows the password', async () => {
    const { port } = await serve()
    const ana = { port, user: 'ana', password: 's3cret' }
    for (const [given, message] of [
      [{ ...ana, password: 'wrong' }, 'Authentication failed.'],
      [{ ...ana, user: 'bea' }, 'Authentication failed.'],
      [{ ...ana, command: '{"fail": 1}' }, 'no such command'],
      [{ port, command: '{"count": "orders"}' }, 'command requires authentication'],
    ] as const)
      expect(await run('MONGODB', given)).toMatchObject({ outcome: 'DOWN', message: `The server refused: ${message}` })
    const imposter = await serve({ proves: false })
    expect(await run('MONGODB', { ...ana, port: imposter.port })).toMatchObject({
      ...{ outcome: 'DOWN', message: 'The server does not prove that it knows the password' },
    })
  })

  test.each([
    [{ user: 'ana' }, 'password'],
    [{ password: 's3cret' }, 'user'],
    [{ command: 'ping' }, 'command'],
    [{ command: '[]' }, 'command'],
    [{ command: '{}' }, 'command'],
    [{ command: '"ping"' }, 'command'],
    [{ command: `{"a":${'['.repeat(30)}${']'.repeat(30)}}` }, 'command'],
  ])('%j is refused', (given, path) => {
    const { error } = probes.MONGODB.options.safeParse({ host: 'example.com', ...given })
    expect(error?.issues[0]?.path).toEqual([path])
  })
})

describe('a MySQL server with TLS', () => {
  const nonce = Buffer.from('12345678abcdefghijkl')
  const packet = (number: number, ...parts: (Buffer | string)[]) => {
    const data = Buffer.concat(parts.map((part) => Buffer.from(part)))
    return Buffer.concat([Buffer.from([data.length & 255, data.length >> 8, 0, number]), data])
  }
  const greeting = (capabilities: number) => {
    const flags = Buffer.from([capabilities & 255, capabilities >> 8])
    const more = Buffer.alloc(1 + 2 + 2 + 1 + 10)
    const plugin = '\0caching_sha2_password\0'
    return packet(
      0,
      '\n8.4.0\0',
      Buffer.alloc(4),
      nonce.subarray(0, 8),
      Buffer.alloc(1),
      flags,
      more,
      nonce.subarray(8),
      plugin,
    )
  }

  /** Starts TLS after the request for it, which may have arrived together with the start of the handshake. */
  function secured(socket: Socket, request: Buffer, secureContext: SecureContext): TLSSocket {
    socket.pause()
    if (request.length > 36) socket.unshift(request.subarray(36))
    return new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => undefined)
  }

  /** Starts a server that requires the plain password. Returns the data that it received unencrypted and over TLS. */
  async function serve() {
    const got = { plain: [] as number[], password: '' }
    const secureContext = createSecureContext(authority.issue(['127.0.0.1']))
    const { port } = await startTcpServer((socket: Socket) => {
      socket.write(greeting(0x800))
      socket.once('data', (request: Buffer) => {
        got.plain.push(request.readUIntLE(0, 3), request.readUInt32LE(4) & 0x800, request[3] ?? 0)
        const secure = secured(socket, request, secureContext)
        secure.once('data', (response: Buffer) => {
          secure.write(packet((response[3] ?? 0) + 1, Buffer.from([1, 4])))
          secure.once('data', (password: Buffer) => {
            got.password = password.subarray(4).toString()
            secure.write(packet((password[3] ?? 0) + 1, Buffer.from([0, 0, 0, 2, 0, 0, 0])))
          })
        })
      })
    })
    return { port, got }
  }

  test('receives only the request for TLS unencrypted, and the password over TLS if it asks for it', async () => {
    const { port, got } = await serve()
    const given = { port, tls: true, user: 'ana', password: 's3cret' }
    expect(await run('MYSQL', given)).toMatchObject(matching('UP', /^Version 8\.4\.0 in/))
    expect(got).toEqual({ plain: [32, 0x800, 1], password: 's3cret\0' })
  })

  test('must offer TLS and have a trusted certificate', async () => {
    const { port } = await startTcpServer((socket) => socket.write(greeting(0)))
    expect(await run('MYSQL', { port, tls: true })).toMatchObject(matching('DOWN', /^The server does not offer TLS$/))
    const secureContext = createSecureContext(createAuthority().issue(['127.0.0.1']))
    const other = await startTcpServer((socket) => {
      socket.write(greeting(0x800))
      socket.once('data', (request: Buffer) => secured(socket, request, secureContext))
    })
    expect(await run('MYSQL', { port: other.port, tls: true })).toMatchObject(matching('DOWN', /^TLS certificate/))
  })
})

const redisProgram = '/usr/bin/redis-server'
const mariadbd = '/usr/sbin/mariadbd'
const installer = '/usr/bin/mariadb-install-db'

describe('real servers, if Debian’s packages are installed', () => {
  test.skipIf(!existsSync(redisProgram))('Redis runs a command (redis-server)', async () => {
    const port = await freePort()
    const quiet = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', scratchFolder()]
    await startProgram(redisProgram, quiet, port)
    for (const [command, outcome, message] of [
      ['SET "my key" hällo', 'UP', /^OK in/],
      ['GET "my key"', 'UP', /^6 bytes in/],
      ['STRLEN "my key"', 'UP', /^6 in/],
      ['GET none', 'UP', /^Nothing in/],
      ['KEYS *', 'UP', /^1 item in/],
      ['INFO', 'UP', /^\d+ bytes in/],
      ['LLEN "my key"', 'DOWN', /^The server refused: WRONGTYPE/],
      ['NONE', 'DOWN', /^The server refused: ERR unknown command/],
    ] as const)
      expect(await run('REDIS', { port, command })).toMatchObject(matching(outcome, message))
    for (const command of ['GET "open', 'a"b', '""x'])
      expect(probes.REDIS.options.safeParse({ host: 'example.com', command }).success).toBe(false)
  })

  test.skipIf(!existsSync(mariadbd) || !existsSync(installer))(
    'MariaDB signs in, also over TLS (mariadbd)',
    async () => {
      const [port, folder] = [await freePort(), scratchFolder()]
      const { cert, key } = authority.issue(['127.0.0.1'])
      const path = (name: string) => join(folder, name)
      writeFileSync(path('cert'), cert)
      writeFileSync(path('key'), key)
      writeFileSync(
        path('init'),
        `CREATE USER 'ana'@'%' IDENTIFIED BY 's3cret';\nCREATE USER 'tls'@'%' IDENTIFIED BY 's3cret' REQUIRE SSL;\n`,
      )
      const data = ['--no-defaults', `--datadir=${path('data')}`, '--user=root']
      execFileSync(installer, [...data, '--auth-root-authentication-method=normal', '--skip-test-db'], {
        stdio: 'ignore',
      })
      const own = [
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        `--socket=${path('socket')}`,
        `--pid-file=${path('pid')}`,
      ]
      const tls = [`--ssl-cert=${path('cert')}`, `--ssl-key=${path('key')}`, `--init-file=${path('init')}`]
      await startProgram(
        mariadbd,
        [...data, ...own, ...tls, '--skip-name-resolve', '--innodb-buffer-pool-size=8M'],
        port,
      )
      const ana = { port, user: 'ana', password: 's3cret', query: 'SELECT 1' }
      const up = matching('UP', /^Version \d+\.\d+\.\S+: 1 row in/)
      expect(await run('MYSQL', ana)).toMatchObject(up)
      const secure = await run('MYSQL', { ...ana, tls: true })
      expect(secure).toMatchObject({ ...up, detail: { certificateEndsAt: expect.any(String) } })
      expect(await run('MYSQL', { ...ana, user: 'tls' })).toMatchObject(
        matching('DOWN', /^The server refused: Access denied/),
      )
      expect(await run('MYSQL', { ...ana, user: 'tls', tls: true })).toMatchObject(up)
      expect(await run('MYSQL', { ...ana, tls: true, password: 'x' })).toMatchObject(matching('DOWN', /Access denied/))
      expect(await run('MYSQL', { port, tls: true })).toMatchObject(matching('UP', /^Version \d+\.\d+/))
      expect(await run('MYSQL', { ...ana, query: 'SELECT no' })).toMatchObject(matching('DOWN', /Unknown column/))
    },
  )
})
