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
import { ssh } from '../probe/ssh.ts'
import { tcp } from '../probe/tcp.ts'
import { udp } from '../probe/udp.ts'
import { websocket } from '../probe/websocket.ts'

/** The kinds with a probe. A heartbeat waits for reports instead, and a group combines other monitors. */
export type ProbedKind = Exclude<MonitorKind, 'HEARTBEAT' | 'GROUP'>

/** All kinds. The API, the console and the schema of a file are generated from them. */
const rules = {
  HTTP: http,
  TCP: tcp,
  DNS: dns,
  PING: ping,
  HEARTBEAT: heartbeat,
  BLACKLIST: blacklist,
  GROUP: group,
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
} satisfies Record<MonitorKind, KindRules>

const { HEARTBEAT: _, GROUP: __, ...probed } = rules

/** The kinds with a probe, and their probes. */
export const probes = probed satisfies Record<ProbedKind, Probe>

/** The rules of each kind of monitor. */
export const kindRules: Readonly<Record<MonitorKind, KindRules>> = rules

/** The validated options of each kind. */
export type KindOptions = { readonly [K in MonitorKind]: z.output<(typeof rules)[K]['options']> }

/** Returns whether a kind has the same result in every region, so that one watch is enough. */
export function isAnywhere(kind: MonitorKind): boolean {
  return kindRules[kind].anywhere
}
