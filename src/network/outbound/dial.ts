import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { addressFamily, addressRange } from '../../core/ip-address.ts'
import { ownValue } from '../../core/own-value.ts'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import type { FailureReason, Fault } from './failure.ts'

/** The delay before the next address is tried in parallel, in milliseconds (RFC 8305 §5). */
const ATTEMPT_DELAY_MS = 250

export interface Dialled {
  readonly socket: Socket
  readonly address: string
}

/**
 * Connects to the first address that accepts. Node's own algorithm gives up on each address after 250 ms, so it never
 * reaches distant hosts.
 * @param tryAcquire returns whether the rate limit admits an address. The first address is already admitted.
 * @throws Stop
 */
export function dial(
  addresses: readonly string[],
  port: number,
  state: Attempt,
  tryAcquire: (address: string) => boolean = () => true,
): Promise<Dialled> {
  return inPhase(state, 'connect', 'connection', () =>
    awaiting(state, (resolve, reject) => {
      const dialled = new Set<Socket>()
      const failures: Stop[] = []
      const waiting = [...addresses]
      let timer: NodeJS.Timeout | undefined

      /** Returns the next address that the rate limit admits. */
      function shift(): string | undefined {
        const address = waiting.shift()
        if (address === undefined || address === addresses[0] || tryAcquire(address)) return address
        failures.push(rateLimited('the host'))
        return shift()
      }

      function next() {
        clearTimeout(timer)
        const address = shift()
        if (address === undefined) return
        const socket = connect({ host: address, port, noDelay: true, autoSelectFamily: false })
        dialled.add(socket)
        socket.once('connect', () => {
          dialled.delete(socket)
          giveUp()
          state.address = address
          resolve({ socket, address })
        })
        // The listener stays on the socket, so that an error after the connection does not throw.
        socket.on('error', (error: NodeJS.ErrnoException) => {
          if (!dialled.delete(socket)) return
          failures.push(dialFailure(error.code, address, port))
          next()
          if (dialled.size === 0) reject(representativeFailure(failures))
        })
        timer = setTimeout(next, ATTEMPT_DELAY_MS)
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

/** Returns the failure of a connection that a rate limit did not admit. The host itself may work. */
export function rateLimited(host: string): Stop {
  return new Stop('rate-limited', 'ours', `Not connected: too many connections to the addresses of ${host} at once`)
}

/**
 * Returns the failure that says most about the target: this machine may have no route to one address, such as an IPv6
 * address, while another address shows the state of the target. If a rate limit prevented an attempt, the state is
 * unknown.
 */
function representativeFailure(failures: readonly Stop[]): Stop {
  const [first = dialFailure(undefined, '', 0)] = failures
  const untried = failures.find(({ reason }) => reason === 'rate-limited')
  if (untried) return untried
  return failures.find(({ fault }) => fault !== 'ours') ?? first
}

/** Errors of this machine: no route, no socket or no permission. */
const localErrors: Readonly<Record<string, string>> = {
  ENETUNREACH: 'This machine has no route to the address',
  ENETDOWN: 'The network of this machine is down',
  EADDRNOTAVAIL: 'This machine has no address to connect from',
  EAFNOSUPPORT: 'This machine does not support the IP version of the address',
  EMFILE: 'This machine has too many open connections',
  ENFILE: 'This machine has too many open connections',
  ENOBUFS: 'This machine has no memory left for connections',
  ENOMEM: 'This machine has no memory left for connections',
  EINVAL: 'This machine has no route to the address',
  EACCES: 'This machine does not permit the connection',
  EPERM: 'This machine does not permit the connection',
}

/**
 * Returns the failure for the error code of a connection.
 * @param families returns the versions of IP in which this machine has a routable address.
 */
export function dialFailure(
  code: string | undefined,
  address: string,
  port: number,
  families: () => ReadonlySet<4 | 6> = ownFamilies,
): Stop {
  const ours = ownValue(localErrors, code ?? '')
  if (ours !== undefined) return new Stop('local', 'ours', ours)
  const family = addressFamily(address)
  if (code === 'EHOSTUNREACH' && !families().has(family)) {
    return new Stop('local', 'ours', `This machine has no route to an IPv${family} address`)
  }
  const [reason, fault, message] =
    ownValue(remoteErrors, code ?? '') ?? (['unreachable', 'unclear', 'The host cannot be reached'] as const)
  return new Stop(reason, fault, message.replace('{port}', String(port)))
}

/** Returns the versions of IP in which this machine has an address other than loopback and link-local ones. */
function ownFamilies(): ReadonlySet<4 | 6> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const leading = all.filter(({ address, internal }) => !internal && addressRange(address) !== 'link-local')
  return new Set(leading.map(({ address }) => addressFamily(address)))
}

const remoteErrors: Readonly<Record<string, readonly [FailureReason, Fault, string]>> = {
  ECONNREFUSED: ['refused', 'theirs', 'Connection to port {port} refused'],
  ECONNRESET: ['closed', 'theirs', 'Connection to port {port} reset'],
  ETIMEDOUT: ['timeout', 'unclear', 'No connection'],
  EHOSTUNREACH: ['unreachable', 'unclear', 'The host cannot be reached'],
}
