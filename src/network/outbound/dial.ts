import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { addressFamily, addressRange } from '../address.ts'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import type { FailureReason, Fault } from './failure.ts'

/** How long an address is tried alone before the next one is tried beside it, in milliseconds (RFC 8305 §5). */
const HEAD_START = 250

export interface Dialled {
  readonly socket: Socket
  readonly address: string
}

/**
 * Connects to the first of these addresses that takes the connection. Node's own way with many addresses drops each after
 * 250 ms, and so never reaches what is far away.
 * @throws Stop
 */
export function dial(addresses: readonly string[], port: number, state: Attempt): Promise<Dialled> {
  return inPhase(state, 'connect', 'connection', () =>
    awaiting(state, (resolve, reject) => {
      const dialled = new Set<Socket>()
      const failures: Stop[] = []
      const waiting = [...addresses]
      let timer: NodeJS.Timeout | undefined

      function next() {
        clearTimeout(timer)
        const address = waiting.shift()
        if (address === undefined) return
        const socket = connect({ host: address, port, noDelay: true, autoSelectFamily: false })
        dialled.add(socket)
        socket.once('connect', () => {
          dialled.delete(socket)
          giveUp()
          state.address = address
          resolve({ socket, address })
        })
        // It stays on the socket, so that a connection that breaks later does not throw.
        socket.on('error', (error: NodeJS.ErrnoException) => {
          if (!dialled.delete(socket)) return
          failures.push(dialFailure(error.code, address, port))
          next()
          if (dialled.size === 0) reject(mostTelling(failures))
        })
        timer = setTimeout(next, HEAD_START)
      }

      function giveUp() {
        clearTimeout(timer)
        for (const socket of dialled) socket.destroy()
        dialled.clear()
      }

      next()
      return giveUp
    }),
  )
}

/** One address may lie where this machine has no way to, such as IPv6, while another shows how the target is. */
function mostTelling(failures: readonly Stop[]): Stop {
  const [first = dialFailure(undefined, '', 0)] = failures
  return failures.find(({ fault }) => fault !== 'ours') ?? first
}

/** Errors of this machine: no route, no socket, or not permitted. */
const local: Readonly<Record<string, string>> = {
  ENETUNREACH: 'This machine has no route to the address',
  ENETDOWN: 'The network of this machine is down',
  EADDRNOTAVAIL: 'This machine has no address to connect from',
  EAFNOSUPPORT: 'This machine does not speak the version of IP of the address',
  EMFILE: 'This machine has too many open connections',
  ENFILE: 'This machine has too many open connections',
  ENOBUFS: 'This machine has no memory left for connections',
  ENOMEM: 'This machine has no memory left for connections',
  EINVAL: 'This machine has no route to the address',
  EACCES: 'This machine does not permit the connection',
  EPERM: 'This machine does not permit the connection',
}

/**
 * What it means that an address did not take a connection, by the code of the error.
 * @param families the versions of IP in which this machine has an address that leads anywhere.
 */
export function dialFailure(
  code: string | undefined,
  address: string,
  port: number,
  families: () => ReadonlySet<4 | 6> = ownFamilies,
): Stop {
  const ours = local[code ?? '']
  if (ours !== undefined) return new Stop('local', 'ours', ours)
  const family = addressFamily(address)
  if (code === 'EHOSTUNREACH' && !families().has(family)) {
    return new Stop('local', 'ours', `This machine has no way to an IPv${family} address`)
  }
  const [reason, fault, message] =
    remote[code ?? ''] ?? (['unreachable', 'unclear', 'The host cannot be reached'] as const)
  return new Stop(reason, fault, message.replace('{port}', String(port)))
}

/** Of addresses that are neither of this machine alone nor of its link alone. */
function ownFamilies(): ReadonlySet<4 | 6> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const leading = all.filter(({ address, internal }) => !internal && addressRange(address) !== 'link-local')
  return new Set(leading.map(({ address }) => addressFamily(address)))
}

const remote: Readonly<Record<string, readonly [FailureReason, Fault, string]>> = {
  ECONNREFUSED: ['refused', 'theirs', 'Connection to port {port} refused'],
  ECONNRESET: ['closed', 'theirs', 'Connection to port {port} reset'],
  ETIMEDOUT: ['timeout', 'unclear', 'No connection'],
  EHOSTUNREACH: ['unreachable', 'unclear', 'The host cannot be reached'],
}
