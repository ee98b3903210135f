import type { z } from 'zod'
import type { MonitorKind } from '../generated/prisma/enums.ts'
import { blacklist } from './probe/blacklist.ts'
import { dns } from './probe/dns.ts'
import { domain } from './probe/domain.ts'
import { grpc } from './probe/grpc.ts'
import { heartbeat } from './probe/heartbeat.ts'
import { http } from './probe/http.ts'
import { mongodb } from './probe/mongodb.ts'
import { mqtt } from './probe/mqtt.ts'
import { mysql } from './probe/mysql.ts'
import { ping } from './probe/ping.ts'
import { postgresql } from './probe/postgresql.ts'
import type { KindRules, Probe } from './probe/probe.ts'
import { redis } from './probe/redis.ts'
import type { DescribedProbe } from './probe/server-probe.ts'
import { ssh } from './probe/ssh.ts'
import { tcp } from './probe/tcp.ts'
import { udp } from './probe/udp.ts'
import { websocket } from './probe/websocket.ts'

/** The kinds with a probe; a heartbeat's job reports instead. */
export type ProbedKind = Exclude<MonitorKind, 'HEARTBEAT'>

/**
 * The kinds whose options are described: GraphQL and the console are made of their words. A new one is a file in
 * `probe/`, a line here, and a value of the enum in the database.
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

/** A kind whose options are described. */
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

const rules = { ...probes, HEARTBEAT: heartbeat } satisfies Record<MonitorKind, KindRules>

/** The rules of each kind of monitor. */
export const kindRules: Readonly<Record<MonitorKind, KindRules>> = rules

/** The validated options of each kind. */
export type KindOptions = { readonly [K in MonitorKind]: z.output<(typeof rules)[K]['options']> }

/** Returns whether a kind gives the same result from every region, so that one watch is enough. */
export function isAnywhere(kind: MonitorKind): boolean {
  return kindRules[kind].anywhere
}
