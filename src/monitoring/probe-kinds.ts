import type { z } from 'zod'
import type { MonitorKind } from '../generated/prisma/enums.ts'
import { blacklist } from './probe/blacklist.ts'
import { dns } from './probe/dns.ts'
import { heartbeat } from './probe/heartbeat.ts'
import { http } from './probe/http.ts'
import { ping } from './probe/ping.ts'
import type { KindRules, Probe } from './probe/probe.ts'
import { tcp } from './probe/tcp.ts'

/** The kinds with a probe; a heartbeat's job reports instead. */
export type ProbedKind = Exclude<MonitorKind, 'HEARTBEAT'>

/** The kinds with a probe, and their probes. A new kind is a file in `probe/` and a line here. */
export const probes = { HTTP: http, TCP: tcp, DNS: dns, PING: ping, BLACKLIST: blacklist } satisfies Record<
  ProbedKind,
  Probe
>

const rules = { ...probes, HEARTBEAT: heartbeat } satisfies Record<MonitorKind, KindRules>

/** The rules of each kind of monitor. */
export const kindRules: Readonly<Record<MonitorKind, KindRules>> = rules

/** The validated options of each kind. */
export type KindOptions = { readonly [K in MonitorKind]: z.output<(typeof rules)[K]['options']> }

/** Returns whether a kind gives the same result from every region, so that one watch is enough. */
export function isAnywhere(kind: MonitorKind): boolean {
  return kindRules[kind].anywhere
}
