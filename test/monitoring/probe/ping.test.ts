import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { PingOptions } from '../../../src/monitoring/probe/ping.ts'
import { ping, pingBy, readPing } from '../../../src/monitoring/probe/ping.ts'
import { answer, rcodes } from '../../support/dns-server.ts'
import { requirePing } from '../../support/ping.ts'
import { temporaryDirectory } from '../../support/scratch.ts'
import { essence, runWith, startTools } from './run.ts'

const options = (given: object): PingOptions => ping.options.parse({ host: '127.0.0.1', ...given })

describe('options', () => {
  test('have defaults, and hosts are normalized', () => {
    expect(options({ host: ' WWW.Example.com. ' })).toEqual({
      ...{ host: 'www.example.com', count: 3, packetSize: 56, inverted: false },
    })
    expect(options({ host: '[2001:DB8::7]' }).host).toBe('2001:db8::7')
  })

  test.each([
    [{ host: '-c 1000000' }, 'host'],
    [{ host: 'example.com;reboot' }, 'host'],
    [{ host: '' }, 'host'],
    [{ host: 'http://example.com' }, 'host'],
    [{ count: 0 }, 'count'],
    [{ count: 6 }, 'count'],
    [{ packetSize: 15 }, 'packetSize'],
    [{ packetSize: 8973 }, 'packetSize'],
    [{ ipVersion: 5 }, 'ipVersion'],
    [{ degradedAboveMs: 30_001 }, 'degradedAboveMs'],
  ])('refuse %j', (given, path) => {
    const read = ping.options.safeParse({ host: 'example.com', ...given })
    expect(read.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })
})

describe('the output of ping is parsed', () => {
  const outputs = {
    'iputils 20221126': `PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.
64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.022 ms

--- 127.0.0.1 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 405ms
rtt min/avg/max/mdev = 0.022/0.025/0.027/0.002 ms
`,
    'BusyBox 1.35': `PING ::1 (::1): 56 data bytes
64 bytes from ::1: seq=0 ttl=64 time=0.036 ms

--- ::1 ping statistics ---
3 packets transmitted, 3 packets received, 0% packet loss
scheduler-trip min/avg/max = 0.021/0.025/0.071 ms
`,
    macOS: `PING 127.0.0.1 (127.0.0.1): 56 data bytes
64 bytes from 127.0.0.1: icmp_seq=0 ttl=64 time=0.045 ms

--- 127.0.0.1 ping statistics ---
3 packets transmitted, 3 packets received, 0.0% packet loss
scheduler-trip min/avg/max/stddev = 0.021/0.025/0.097/0.021 ms
`,
    'iputils with duplicates and errors': `PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.
3 packets transmitted, 3 received, +1 duplicates, +2 errors, 0% packet loss, time 2030ms
rtt min/avg/max/mdev = 0.022/0.025/0.027/0.002 ms, pipe 3
`,
  }
  test.each(Object.entries(outputs))('%s', (_, stdout) => {
    const read = readPing({ stdout, stderr: '', failure: null })
    expect(read).toEqual({ kind: 'counted', sent: 3, received: 3, averageMs: 0.025 })
  })

  test('without any reply', () => {
    const stdout = `PING 2001:db8::1(2001:db8::1) 56 data bytes
From fd00::2 icmp_seq=1 Destination unreachable: Address unreachable

--- 2001:db8::1 ping statistics ---
2 packets transmitted, 0 received, +1 errors, 100% packet loss, time 1017ms

`
    expect(readPing({ stdout, stderr: '', failure: null })).toEqual({
      kind: 'counted',
      sent: 2,
      received: 0,
      averageMs: null,
    })
  })

  test.each([
    ['missing', '', 'ENOENT'],
    ['forbidden', '', 'EACCES'],
    ['forbidden', 'ping: socktype: SOCK_RAW\nping: socket: Operation not permitted\n', null],
    ['forbidden', 'ping: permission denied (are you root?)\n', null],
    ['network', 'ping: connect: Network is unreachable\n', null],
    ['network', 'ping: sendto: Network is unreachable\n', null],
    ['network', 'ping: socket: Address family not supported by protocol\n', null],
    ['other', 'ping: connect: Invalid argument\n', null],
    ['other', '', null],
  ])('%s: %j', (trouble, stderr, failure) => {
    expect(readPing({ stdout: '', stderr, failure })).toEqual({ kind: 'failed', trouble })
  })
})

describe('a run', () => {
  let programs = 0
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>
  beforeAll(async () => {
    folder = await temporaryDirectory()
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })
  afterAll(() => folder.remove())

  /** Writes a script that replaces ping, and returns its path. */
  async function program(script: string): Promise<string> {
    const path = join(folder.path, `ping-${programs++}`)
    await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return path
  }
  const counted = (sent: number, received: number, average = '12.500') =>
    `echo '${sent} packets transmitted, ${received} received'; echo 'rtt min/avg/max/mdev = 1.0/${average}/20.0/1.0 ms'`

  async function run(script: string, given: object = {}, timeoutMs = 5000) {
    const { tools } = await startTools((query) =>
      query.type === 'A' ? answer(query, ['127.0.0.1']) : { rcode: rcodes.nxdomain },
    )
    const path = script === '' ? join(folder.path, 'nowhere') : await program(script)
    return pingBy(path).run(options(given), runWith(tools, { timeoutMs }))
  }

  test.each([
    ['UP', '3 packets answered', 3, {}],
    ['DEGRADED', '1 of 3 packets were lost', 2, {}],
    ['DEGRADED', 'Answered in 12.5 ms on average, more than 12 ms', 3, { degradedAboveMs: 12 }],
    ['UP', '3 packets answered', 3, { degradedAboveMs: 13 }],
  ])('is %s: %s', async (outcome, message, received, given) => {
    const result = await run(counted(3, received), given)
    expect(result).toEqual({ outcome, message, latencyMs: 12.5, detail: { address: '127.0.0.1' }, suspect: null })
  })

  test('is DOWN without replies, which may be due to our own network', async () => {
    expect(await run(counted(3, 0), { host: 'www.example.com' })).toEqual({
      outcome: 'DOWN',
      message: 'None of 3 packets was answered',
      latencyMs: null,
      detail: null,
      suspect: 'www.example.com',
    })
  })

  test.each([
    ['our machine has no ping program', ''],
    ['our machine does not permit ping to send packets', 'echo permission denied >&2; exit 1'],
    ['our machine has no route to this address', 'echo Network is unreachable >&2; exit 2'],
    ['the ping program failed', 'exit 2'],
  ])('is UNKNOWN when %s', async (why, script) => {
    expect(essence(await run(script))).toEqual({ outcome: 'UNKNOWN', message: `Not pinged: ${why}`, suspect: null })
  })

  test('passes a checked address to the program, and nothing from our environment', async () => {
    vi.stubEnv('ALLCLEAR_TEST_SECRET', 's3cret')
    const log = join(folder.path, 'called')
    await run(`{ printf '%s\\n' "$*"; env; } > ${log}; ${counted(2, 2)}`, { host: 'www.example.com', count: 2 })
    const called = await readFile(log, 'utf8')
    expect(called.split('\n')[0]).toBe('-n -c 2 -s 56 -i 0.2 -- 127.0.0.1')
    expect(called).not.toContain('s3cret')
  })

  test.each([
    [4, '-n -c 3 -s 1472 -i 0.2 -- 127.0.0.1'],
    [6, '-n -c 3 -s 1472 -i 0.2 -- ::1'],
  ])('uses the given size and IPv%s only', async (ipVersion, called) => {
    const { tools } = await startTools((query) => answer(query, [query.type === 'A' ? '127.0.0.1' : '::1']))
    const log = join(folder.path, `sized-${ipVersion}`)
    const path = await program(`printf '%s' "$*" > ${log}; ${counted(3, 3)}`)
    const sized = options({ host: 'www.example.com', packetSize: 1472, ipVersion })
    expect(await pingBy(path).run(sized, runWith(tools))).toMatchObject({ outcome: 'UP' })
    expect(await readFile(log, 'utf8')).toBe(called)
  })

  test('over IPv6 is DOWN when the name has only IPv4 addresses', async () => {
    expect(essence(await run(counted(3, 3), { host: 'www.example.com', ipVersion: 6 }))).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringContaining('www.example.com'),
    })
  })

  test('uses whole seconds if the program requires them', async () => {
    const result = await run(
      `case "$*" in *0.2*) echo "ping: invalid number '0.2'" >&2; exit 1;; esac; ${counted(3, 3)}`,
    )
    expect(result.outcome).toBe('UP')
  })

  test('uses the packets that were counted by the deadline', async () => {
    const result = await run(`trap "${counted(2, 1)}; exit 0" INT; while :; do sleep 0.02; done`, {}, 500)
    expect(essence(result)).toEqual({ outcome: 'DEGRADED', message: '1 of 2 packets were lost', suspect: null })
  })

  test('ends by its deadline, even if the program does not stop', async () => {
    const result = await run('trap "" INT TERM; exec sleep 600', {}, 300)
    expect(result).toMatchObject({ outcome: 'UNKNOWN', message: 'Not pinged: the ping program failed' })
  })

  test('ends at once when the process stops', async () => {
    const { tools } = await startTools()
    const stopping = new AbortController()
    const path = await program('exec sleep 60')
    const running = pingBy(path).run(options({}), runWith(tools, { signal: stopping.signal, timeoutMs: 30_000 }))
    setImmediate(() => stopping.abort())
    expect((await running).outcome).toBe('UNKNOWN')
  })

  describe('among many', () => {
    /** Starts runs that share one process slot. Each reports its start and ends on demand. */
    async function crowd(size: number, timeoutMs: number) {
      const { tools } = await startTools()
      const [startFile, endFile] = [join(folder.path, `starts-${programs}`), join(folder.path, `end-${programs}`)]
      const path = await program(
        `echo >> ${startFile}; while [ ! -e ${endFile} ]; do sleep 0.02; done; ${counted(3, 3)}`,
      )
      const { run: runOne } = pingBy(path, 1)
      const stopping = new AbortController()
      const runs = Array.from({ length: size }, () =>
        runOne(options({}), runWith(tools, { timeoutMs, signal: stopping.signal })),
      )
      return {
        runs,
        stopping,
        startCount: () =>
          readFile(startFile, 'utf8').then(
            ({ length }) => length,
            () => 0,
          ),
        end: () => writeFile(endFile, ''),
      }
    }

    test('waits for a free process', async () => {
      const { runs, startCount, end } = await crowd(4, 30_000)
      await expect.poll(startCount).toBe(1)
      await end()
      for (const result of await Promise.all(runs)) expect(result.outcome).toBe('UP')
      expect(await startCount()).toBe(4)
    })

    test('is UNKNOWN, not DOWN, when no process becomes free in time', async () => {
      const { runs, startCount } = await crowd(3, 600)
      const [first, ...others] = await Promise.all(runs)
      expect(first?.outcome).toBe('UNKNOWN')
      for (const result of others) {
        expect(essence(result)).toEqual({
          outcome: 'UNKNOWN',
          message: 'Not pinged: our machine has too many other hosts to ping',
          suspect: null,
        })
      }
      expect(await startCount()).toBe(1)
    })

    test('stops waiting when the service stops', async () => {
      const { runs, startCount, stopping } = await crowd(3, 30_000)
      await expect.poll(startCount).toBe(1)
      stopping.abort()
      for (const result of await Promise.all(runs)) expect(result.outcome).toBe('UNKNOWN')
      expect(await startCount()).toBe(1)
    })
  })

  test('is UNKNOWN for a forbidden address, without running the program', async () => {
    const { tools } = await startTools((query) => (query.type === 'A' ? answer(query, ['10.0.0.1']) : {}), false)
    for (const host of ['127.0.0.1', '0x7f.1', '::ffff:10.0.0.1', 'localhost', 'www.example.com']) {
      const result = await pingBy(join(folder.path, 'nowhere')).run(options({ host }), runWith(tools))
      expect(result.outcome).toBe('UNKNOWN')
      expect(result.message).not.toMatch(/no ping program|10\.0\.0\.1$/)
    }
  })

  test('is DOWN for a name that does not exist', async () => {
    const { tools } = await startTools(() => ({ rcode: rcodes.nxdomain }), false)
    const result = await ping.run(options({ host: 'www.example.com' }), runWith(tools))
    expect(essence(result)).toEqual({ outcome: 'DOWN', message: 'www.example.com does not exist', suspect: null })
  })

  test.for(['127.0.0.1', '::1'])('pings %s with the system’s ping', async (host, given) => {
    const path = requirePing(given)
    const { tools } = await startTools()
    const result = await pingBy(path).run(options({ host, count: 2 }), runWith(tools))
    expect(essence(result)).toEqual({ outcome: 'UP', message: '2 packets answered', suspect: null })
    expect(result.latencyMs).toBeGreaterThan(0)
  })
})
