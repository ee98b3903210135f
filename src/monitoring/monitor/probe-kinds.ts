import type { z } from 'zod'
import type { MonitorKind } from '../../generated/prisma/enums.ts'
import { group } from '../group/group.ts'
import { blacklist } from '../probe/blacklist.ts'
import { dns } from '../probe/dns.ts'
import { domain } from '../probe/domain-expiry.ts'
import { grpc } from '../probe/grpc.ts'
import { heartbeat } from '../probe/heartbeat.ts'
import { http } from '../probe/http.ts'
import { mongodb } from '../probe/mongodb.ts'
import { mqtt } from '../probe/mqtt.ts'
import { mysql } from '../probe/mysql.ts'
import { ping } from '../probe/ping.ts'
import { postgresql } from '../probe/postgresql.ts'
import type { KindRules, Probe } from '../probe/probe.ts'
import { redis } from '../probe/redis.ts'
import type { DescribedProbe } from '../probe/server-probe.ts'
import { ssh } from '../probe/ssh.ts'
import { tcp } from '../probe/tcp.ts'
import { udp } from '../probe/udp.ts'
import { websocket } from '../probe/websocket.ts'

/** The kinds with a probe. A heartbeat waits for reports instead, and a group combines other monitors. */
export type ProbedKind = Exclude<MonitorKind, 'HEARTBEAT' | 'GROUP'>

/**
 * The kinds with described options, from which their GraphQL types and console forms are generated. To add a kind, add
 * a file to `probe/`, a line here, and a value to the enum in the database.
 */
export const describedKinds = {
  SSH: ssh,
  REDIS: redis,
  POSTGRESQL: postgresql,
  MYSQL: mysql,
  MQTT: mqtt,
  WEBSOCKET: websocket,
  GRPC: grpc,
  DOMAIN: domain,
  UDP: udp,
  MONGODB: mongodb,
} satisfies Partial<Record<MonitorKind, DescribedProbe>>

/** A kind with described options. */
export type DescribedKind = keyof typeof describedKinds

/** The kinds with a probe, and their probes. */
export const probes = {
  HTTP: http,
  TCP: tcp,
  DNS: dns,
  PING: ping,
  BLACKLIST: blacklist,
  ...describedKinds,
} satisfies Record<ProbedKind, Probe>

const rules = { ...probes, HEARTBEAT: heartbeat, GROUP: group } satisfies Record<MonitorKind, KindRules>

/** The rules of each kind of monitor. */
export const kindRules: Readonly<Record<MonitorKind, KindRules>> = rules

/** The validated options of each kind. */
export type KindOptions = { readonly [K in MonitorKind]: z.output<(typeof rules)[K]['options']> }

/** Returns whether a kind has the same result in every region, so that one watch is enough. */
export function isAnywhere(kind: MonitorKind): boolean {
  return kindRules[kind].anywhere
}
