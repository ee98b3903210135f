import { reversedLabels } from '../network/address.ts'
import type { Decode } from './code.ts'
import { byBits, byTable, listing, policy, refusingWhenOdd, remark } from './code.ts'
import type { Target } from './target.ts'

/**
 * Whether a list holds IPv6 addresses. `no`: nothing says that it does, so it is not asked. `unstated`: its operator does
 * not say, so it is asked and a listing counts, but silence does not clear an address. (The IPv6 test point of RFC 5782 §5
 * cannot tell: rbldnsd, which many lists run, answers it from IPv4 data.)
 */
export type Ipv6Cover = 'yes' | 'no' | 'unstated'

/** Names to ask a list's own zone for, to see whether the list works (RFC 5782 §5 and the lists' own pages). */
export interface Probes {
  /** Test entries; a working list answers at least one of them. */
  readonly positive: readonly string[]
  /** What no working list lists; an entry that its codes tell from a listing is none. */
  readonly negative: string
}

/** A DNS blacklist: where it is asked, what its answers mean, and how to see that it works. */
export interface Blacklist {
  readonly id: string
  /** Display name. */
  readonly name: string
  readonly kind: Target['kind']
  /** Where queries go; holds the operator's key when one is set, so it is never shown. */
  readonly zone: string
  /** The zone's public name. */
  readonly publicZone: string
  readonly description: string
  readonly ipv6: Ipv6Cover
  readonly decode: Decode
  readonly probes: Probes
  /** The most queries a day, health probes apart, that the list's terms allow, or that we allow ourselves. */
  readonly queriesPerDay: number
  /** The labels to ask for in front of the zone. A domain may need more than one. */
  readonly labels: (target: Target) => readonly string[]
  /** Where a listing can be contested: the target's own page where the list has one. */
  readonly delistUrl: (target: string) => string
}

/** The RFC 5782 §5 test points of an IPv4 list: 127.0.0.2 must be listed, 127.0.0.1 must not be. */
const addressProbes: Probes = { positive: ['2.0.0.127'], negative: '1.0.0.127' }

/** Six lists ask for the same label of a target. */
const labelsOfTargets = new WeakMap<Target, readonly string[]>()

function addressLabels(target: Target): readonly string[] {
  const known = labelsOfTargets.get(target)
  if (known) return known
  const labels = target.kind === 'ip' ? [reversedLabels(target.address)] : []
  labelsOfTargets.set(target, labels)
  return labels
}

/** What a list allows where it publishes no figure: our own restraint, in queries a day. */
const RESTRAINT = 250_000

/** What is kept back for the probes of a list's health: at worst five names every 45 seconds. */
const PROBES = 10_000

const ipList = {
  kind: 'ip',
  ipv6: 'no',
  probes: addressProbes,
  labels: addressLabels,
  queriesPerDay: RESTRAINT,
} as const

/** https://docs.spamhaus.com/ (zones, return codes): .5 to .7 are XBL codes that are no longer handed out. */
const zenCodes = {
  '127.0.0.2': listing('SBL: a source of spam, or of services for spammers'),
  '127.0.0.3': listing('CSS: sends spam in small, spread-out amounts'),
  '127.0.0.4': listing('XBL: infected or exploited, seen sending spam or malware (CBL)'),
  '127.0.0.5': listing('XBL: infected or exploited'),
  '127.0.0.6': listing('XBL: infected or exploited'),
  '127.0.0.7': listing('XBL: infected or exploited'),
  '127.0.0.9': listing('DROP: a hijacked network, or one run by criminals'),
  '127.0.0.10': policy('PBL: its provider says that no mail should come from it directly'),
  '127.0.0.11': policy('PBL: an end-user range from which no mail should come directly'),
  '127.0.0.30': listing('BCL: a botnet controller'),
} as const

/** https://dronebl.org/docs: .1 and .2 are test entries. */
const droneCodes = {
  '127.0.0.1': remark('A test entry'),
  '127.0.0.2': remark('A sample entry'),
  '127.0.0.3': listing('IRC drone'),
  '127.0.0.5': listing('Bottler'),
  '127.0.0.6': listing('Unknown worm or spambot'),
  '127.0.0.7': listing('DDoS drone'),
  '127.0.0.8': listing('Open SOCKS proxy'),
  '127.0.0.9': listing('Open HTTP proxy'),
  '127.0.0.10': listing('Proxy chain'),
  '127.0.0.11': listing('Web page proxy'),
  '127.0.0.12': listing('Open DNS resolver'),
  '127.0.0.13': listing('Brute-force attacker'),
  '127.0.0.14': listing('Open Wingate proxy'),
  '127.0.0.15': listing('Compromised router or gateway'),
  '127.0.0.16': listing('Autorooting worm'),
  '127.0.0.17': listing('Automatically found botnet host'),
  '127.0.0.18': listing('DNS or MX-type host seen on IRC'),
  '127.0.0.19': listing('Abused VPN service'),
  '127.0.0.255': listing('Attacker of an uncategorised kind'),
} as const

/** https://www.surbl.org/lists (bits of multi): DM and CT name kinds of service, not abuse. */
const surblBits = {
  4: remark('DM: a disposable mail domain'),
  8: listing('PH: phishing'),
  16: listing('MW: malware'),
  32: remark('CT: a click tracker'),
  64: listing('ABUSE: seen in spam'),
  128: listing('CR: a cracked site'),
} as const

const spamhausZen = (dqsKey: string | undefined): Blacklist => ({
  ...ipList,
  id: 'spamhaus-zen',
  name: 'Spamhaus ZEN',
  zone: dqsKey === undefined ? 'zen.spamhaus.org' : `${dqsKey}.zen.dq.spamhaus.net`,
  publicZone: dqsKey === undefined ? 'zen.spamhaus.org' : 'zen.dq.spamhaus.net',
  description: 'The most widely used list: spam sources, infected hosts, hijacked networks and end-user ranges.',
  ipv6: 'yes',
  decode: byTable(zenCodes),
  // Free use ends at 300,000 queries a day (https://www.spamhaus.org/blocklists/dnsbl-fair-use-policy/).
  queriesPerDay: 300_000 - PROBES,
  delistUrl: (target) => `https://check.spamhaus.org/results/?query=${encodeURIComponent(target)}`,
})

const spamCop: Blacklist = {
  ...ipList,
  id: 'spamcop',
  name: 'SpamCop',
  zone: 'bl.spamcop.net',
  publicZone: 'bl.spamcop.net',
  description: 'Hosts that SpamCop users and spam traps reported within the last day; entries expire by themselves.',
  ipv6: 'unstated',
  decode: byTable({ '127.0.0.2': listing('Reported as a source of spam within the last 24 hours') }),
  delistUrl: (target) => `https://www.spamcop.net/bl.shtml?${encodeURIComponent(target)}`,
}

const barracuda: Blacklist = {
  ...ipList,
  id: 'barracuda',
  name: 'Barracuda',
  zone: 'b.barracudacentral.org',
  publicZone: 'b.barracudacentral.org',
  description:
    'Spam sources seen by Barracuda appliances; it answers only resolvers that are registered, free of charge.',
  decode: byTable({ '127.0.0.2': listing('Seen sending spam or viruses by Barracuda appliances') }),
  delistUrl: () => 'https://www.barracudacentral.org/rbl/removal-request',
}

const psbl: Blacklist = {
  ...ipList,
  id: 'psbl',
  name: 'PSBL',
  zone: 'psbl.surriel.com',
  publicZone: 'psbl.surriel.com',
  description: 'The Passive Spam Block List: hosts that sent mail to spam traps; anyone may remove an entry.',
  decode: byTable({ '127.0.0.2': listing('Sent mail to a spam trap') }),
  delistUrl: () => 'https://psbl.org/remove',
}

const mailspike: Blacklist = {
  ...ipList,
  id: 'mailspike',
  name: 'Mailspike',
  zone: 'bl.mailspike.net',
  publicZone: 'bl.mailspike.net',
  description: 'Senders with a bad reputation, and those taking part in a wave of spam right now.',
  decode: byTable({
    '127.0.0.2': listing('Takes part in a current wave of spam'),
    '127.0.0.10': listing('Worst reputation (L5)'),
    '127.0.0.11': listing('Very bad reputation (L4)'),
    '127.0.0.12': listing('Bad reputation (L3)'),
  }),
  // Free use ends at 100,000 queries a day (https://www.mailspike.org/usage.html).
  queriesPerDay: 100_000 - PROBES,
  delistUrl: () => 'https://mailspike.io/ip_verify',
}

const droneBl: Blacklist = {
  ...ipList,
  id: 'dronebl',
  name: 'DroneBL',
  zone: 'dnsbl.dronebl.org',
  publicZone: 'dnsbl.dronebl.org',
  description: 'Abusable or attacking hosts: open proxies, botnet members, brute-force attackers, abused VPNs.',
  ipv6: 'unstated',
  decode: byTable(droneCodes),
  delistUrl: (target) => `https://dronebl.org/lookup?ip=${encodeURIComponent(target)}`,
}

const surblMulti: Blacklist = {
  id: 'surbl-multi',
  name: 'SURBL multi',
  kind: 'domain',
  zone: 'multi.surbl.org',
  publicZone: 'multi.surbl.org',
  description: 'Domains seen in the text of unwanted mail: phishing, malware, abuse and cracked sites.',
  ipv6: 'no',
  decode: refusingWhenOdd(byBits(surblBits)),
  // rbldnsd answers NXDOMAIN for bare parents under strict QNAME minimisation, so one probe has two labels or more.
  probes: { positive: ['2.0.0.127', 'test.surbl.org', 'surbl-org-permanent-test-point.com'], negative: '1.0.0.127' },
  // Free use ends at 250,000 messages a day (https://surbl.org/usage-policy).
  queriesPerDay: 250_000 - PROBES,
  // The public zone holds wildcards, so the full name finds a listed parent (https://surbl.org/guidelines).
  labels: (target) => (target.kind === 'domain' ? [target.name] : []),
  delistUrl: () => 'https://surbl.org/surbl-analysis',
}

const uriblBlack: Blacklist = {
  id: 'uribl-black',
  name: 'URIBL black',
  kind: 'domain',
  zone: 'black.uribl.com',
  publicZone: 'black.uribl.com',
  description: 'Domains that belong to spammers, seen in the text of unsolicited mail.',
  ipv6: 'no',
  decode: refusingWhenOdd(byTable({ '127.0.0.2': listing('Listed as a domain of spammers') })),
  probes: { positive: ['2.0.0.127', 'test.uribl.com'], negative: '1.0.0.127' },
  // "Low volume" only (https://uribl.com/about.shtml): no figure is given, so we stay low.
  queriesPerDay: 100_000,
  // URIBL lists registrable domains and asks clients to strip host parts.
  labels: (target) => (target.kind === 'domain' ? target.registrable : []),
  delistUrl: () => 'https://admin.uribl.com/',
}

/** The lists that are asked, in the order they are reported: six of addresses, two of domains (contract §2). */
export function blacklists(dqsKey: string | undefined): readonly Blacklist[] {
  return [spamhausZen(dqsKey), spamCop, barracuda, psbl, mailspike, droneBl, surblMulti, uriblBlack]
}

/** The name a list is asked for: a label (reversed address, domain or probe) in front of the list's zone. */
export function queryName(list: Blacklist, label: string): string {
  return `${label}.${list.zone}`
}
