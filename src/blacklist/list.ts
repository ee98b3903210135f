import { reversedLabels } from '../core/ip-address.ts'
import { isQueryable } from '../network/dns/message.ts'
import type { Decoder } from './return-code.ts'
import { bitmaskDecoder, informational, listing, policy, refuseOddOctets, tableDecoder } from './return-code.ts'
import type { Target } from './target.ts'

/**
 * Whether a list covers IPv6 addresses. `no`: its operator documents no IPv6 data, so we do not query it. `unstated`:
 * its operator does not say, so we query it and count listings, but an empty answer does not clear an address. (The
 * IPv6 test point of RFC 5782 §5 proves nothing: rbldnsd, which many lists run, answers it from IPv4 data.)
 */
type Ipv6Coverage = 'yes' | 'no' | 'unstated'

/** Names in a list's zone whose answers show whether the list works (RFC 5782 §5 and the lists' own pages). */
interface TestPoints {
  /** Test entries. A working list lists at least one of them. */
  readonly positive: readonly string[]
  /** A name that a working list does not list. An informational code for it is not a listing. */
  readonly negative: string
}

/** A DNS blacklist: its zone, the decoder of its answers, and the test points that show whether it works. */
export interface Blacklist {
  readonly id: string
  /** The display name. */
  readonly name: string
  readonly kind: Target['kind']
  /** The zone to query. May contain the operator's key, so never show it. */
  readonly zone: string
  /** The zone's public name. */
  readonly publicZone: string
  readonly description: string
  readonly ipv6: Ipv6Coverage
  readonly decode: Decoder
  readonly testPoints: TestPoints
  /** The maximum number of queries a day without health checks: the limit of the list's terms, or our own. */
  readonly queriesPerDay: number
  /** Returns the labels to put in front of the zone. A domain may need several queries. */
  readonly labels: (target: Target) => readonly string[]
  /** Returns the page for contesting a listing: the page about the target, if the list has one. */
  readonly delistUrl: (target: string) => string
}

/** The test points of an IPv4 list (RFC 5782 §5): 127.0.0.2 must be listed, 127.0.0.1 must not. */
const ADDRESS_TEST_POINTS: TestPoints = { positive: ['2.0.0.127'], negative: '1.0.0.127' }

/** A cache of the labels of targets, which all six IP lists share. */
const labelCache = new WeakMap<Target, readonly string[]>()

function addressLabels(target: Target): readonly string[] {
  const known = labelCache.get(target)
  if (known) return known
  const labels = target.kind === 'ip' ? [reversedLabels(target.address)] : []
  labelCache.set(target, labels)
  return labels
}

/** Our own limit for lists that publish none, in queries a day. */
const DEFAULT_QUERIES_PER_DAY = 250_000

/** The number of queries a day reserved for health checks: at most five names every 45 seconds. */
const HEALTH_QUERIES_PER_DAY = 10_000

const ipListDefaults = {
  kind: 'ip',
  ipv6: 'no',
  testPoints: ADDRESS_TEST_POINTS,
  labels: addressLabels,
  queriesPerDay: DEFAULT_QUERIES_PER_DAY,
} as const

/** https://docs.spamhaus.com/ (zones, return codes). Spamhaus no longer uses the XBL codes .5 to .7. */
const zenCodes = {
  '127.0.0.2': listing('SBL: spam source or spam support service'),
  '127.0.0.3': listing('CSS: low-volume (snowshoe) spam source'),
  '127.0.0.4': listing('XBL: infected or exploited host, seen sending spam or malware (CBL)'),
  '127.0.0.5': listing('XBL: infected or exploited host'),
  '127.0.0.6': listing('XBL: infected or exploited host'),
  '127.0.0.7': listing('XBL: infected or exploited host'),
  '127.0.0.9': listing('DROP: hijacked or criminal network'),
  '127.0.0.10': policy('PBL: the provider says this range should not send mail directly'),
  '127.0.0.11': policy('PBL: end-user range that should not send mail directly'),
  '127.0.0.30': listing('BCL: botnet controller'),
} as const

/** https://dronebl.org/docs. The codes .1 and .2 are test entries. */
const droneCodes = {
  '127.0.0.1': informational('Test entry'),
  '127.0.0.2': informational('Sample entry'),
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
  '127.0.0.255': listing('Uncategorised attacker'),
} as const

/** https://www.surbl.org/lists (bits of multi). DM and CT classify a service and do not report abuse. */
const surblBits = {
  4: informational('DM: disposable mail domain'),
  8: listing('PH: phishing'),
  16: listing('MW: malware'),
  32: informational('CT: click tracker'),
  64: listing('ABUSE: seen in spam'),
  128: listing('CR: cracked site'),
} as const

const spamhausZen = (dqsKey: string | undefined): Blacklist => ({
  ...ipListDefaults,
  id: 'spamhaus-zen',
  name: 'Spamhaus ZEN',
  zone: dqsKey === undefined ? 'zen.spamhaus.org' : `${dqsKey}.zen.dq.spamhaus.net`,
  publicZone: dqsKey === undefined ? 'zen.spamhaus.org' : 'zen.dq.spamhaus.net',
  description: 'The most widely used list: spam sources, infected hosts, hijacked networks and end-user ranges.',
  ipv6: 'yes',
  decode: tableDecoder(zenCodes),
  // Free use is limited to 300,000 queries a day (https://www.spamhaus.org/blocklists/dnsbl-fair-use-policy/).
  queriesPerDay: 300_000 - HEALTH_QUERIES_PER_DAY,
  delistUrl: (target) => `https://check.spamhaus.org/results/?query=${encodeURIComponent(target)}`,
})

const spamCop: Blacklist = {
  ...ipListDefaults,
  id: 'spamcop',
  name: 'SpamCop',
  zone: 'bl.spamcop.net',
  publicZone: 'bl.spamcop.net',
  description: 'Hosts that SpamCop users and spam traps reported within the last day. Entries expire automatically.',
  ipv6: 'unstated',
  decode: tableDecoder({ '127.0.0.2': listing('Reported as a spam source within the last 24 hours') }),
  delistUrl: (target) => `https://www.spamcop.net/bl.shtml?${encodeURIComponent(target)}`,
}

const barracuda: Blacklist = {
  ...ipListDefaults,
  id: 'barracuda',
  name: 'Barracuda',
  zone: 'b.barracudacentral.org',
  publicZone: 'b.barracudacentral.org',
  description: 'Spam sources seen by Barracuda appliances. Answers only registered resolvers; registration is free.',
  decode: tableDecoder({ '127.0.0.2': listing('Sent spam or viruses to Barracuda appliances') }),
  delistUrl: () => 'https://www.barracudacentral.org/rbl/removal-request',
}

const psbl: Blacklist = {
  ...ipListDefaults,
  id: 'psbl',
  name: 'PSBL',
  zone: 'psbl.surriel.com',
  publicZone: 'psbl.surriel.com',
  description: 'The Passive Spam Block List: hosts that sent mail to spam traps. Anyone can remove an entry.',
  decode: tableDecoder({ '127.0.0.2': listing('Sent mail to a spam trap') }),
  delistUrl: () => 'https://psbl.org/remove',
}

const mailspike: Blacklist = {
  ...ipListDefaults,
  id: 'mailspike',
  name: 'Mailspike',
  zone: 'bl.mailspike.net',
  publicZone: 'bl.mailspike.net',
  description: 'Senders with a bad reputation, and senders in a current wave of spam.',
  decode: tableDecoder({
    '127.0.0.2': listing('Part of a current wave of spam'),
    '127.0.0.10': listing('Worst reputation (L5)'),
    '127.0.0.11': listing('Very bad reputation (L4)'),
    '127.0.0.12': listing('Bad reputation (L3)'),
  }),
  // Free use is limited to 100,000 queries a day (https://www.mailspike.org/usage.html).
  queriesPerDay: 100_000 - HEALTH_QUERIES_PER_DAY,
  delistUrl: () => 'https://mailspike.io/ip_verify',
}

const droneBl: Blacklist = {
  ...ipListDefaults,
  id: 'dronebl',
  name: 'DroneBL',
  zone: 'dnsbl.dronebl.org',
  publicZone: 'dnsbl.dronebl.org',
  description: 'Abusable or attacking hosts: open proxies, botnet members, brute-force attackers, abused VPNs.',
  ipv6: 'unstated',
  decode: tableDecoder(droneCodes),
  delistUrl: (target) => `https://dronebl.org/lookup?ip=${encodeURIComponent(target)}`,
}

const surblMulti: Blacklist = {
  id: 'surbl-multi',
  name: 'SURBL multi',
  kind: 'domain',
  zone: 'multi.surbl.org',
  publicZone: 'multi.surbl.org',
  description: 'Domains seen in the body of unwanted mail: phishing, malware, abuse and cracked sites.',
  ipv6: 'no',
  decode: refuseOddOctets(bitmaskDecoder(surblBits)),
  // With strict QNAME minimisation, rbldnsd answers NXDOMAIN for a parent that has no record. Test points with two or
  // more labels detect that.
  testPoints: {
    positive: ['2.0.0.127', 'test.surbl.org', 'surbl-org-permanent-test-point.com'],
    negative: '1.0.0.127',
  },
  // Free use is limited to 250,000 messages a day (https://surbl.org/usage-policy).
  queriesPerDay: 250_000 - HEALTH_QUERIES_PER_DAY,
  // The public zone has wildcards, so a query for the full name finds a listed parent (https://surbl.org/guidelines).
  labels: (target) => (target.kind === 'domain' ? [longestQueryable(target.name, 'multi.surbl.org')] : []),
  delistUrl: () => 'https://surbl.org/surbl-analysis',
}

/**
 * Returns a name, or its longest parent that fits into a query below a zone. Whatever the zone lists fits too, so the
 * parent finds every entry that could list the name.
 */
function longestQueryable(name: string, zone: string): string {
  return isQueryable(`${name}.${zone}`) ? name : longestQueryable(name.slice(name.indexOf('.') + 1), zone)
}

const uriblBlack: Blacklist = {
  id: 'uribl-black',
  name: 'URIBL black',
  kind: 'domain',
  zone: 'black.uribl.com',
  publicZone: 'black.uribl.com',
  description: 'Domains that belong to spammers, seen in the body of unsolicited mail.',
  ipv6: 'no',
  decode: refuseOddOctets(tableDecoder({ '127.0.0.2': listing('Domain that belongs to spammers') })),
  testPoints: { positive: ['2.0.0.127', 'test.uribl.com'], negative: '1.0.0.127' },
  // URIBL allows "low volume" without a figure (https://uribl.com/about.shtml), so our limit is low.
  queriesPerDay: 100_000,
  // URIBL lists registrable domains and asks clients to strip host parts.
  labels: (target) => (target.kind === 'domain' ? target.registrable : []),
  delistUrl: () => 'https://admin.uribl.com/',
}

/** Returns the lists in the order of a report: six IP lists, then two domain lists (contract §2). */
export function blacklists(dqsKey: string | undefined): readonly Blacklist[] {
  return [spamhausZen(dqsKey), spamCop, barracuda, psbl, mailspike, droneBl, surblMulti, uriblBlack]
}

/** Returns the DNS name to query: a label (reversed address, domain or test point), followed by the list's zone. */
export function queryName(list: Blacklist, label: string): string {
  return `${label}.${list.zone}`
}
