import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mmdb } from './mmdb.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Settings for geo data that loads at once. */
    geoFiles: { GEO_CITY_DB: string; GEO_ASN_DB: string }
  }
}

/** The geo data of services under test: 203.0.113.0/24, and nothing else. */
export const knownGeo = { country: 'Germany', city: 'Falkenstein', isp: 'Example Hosting', asn: 'AS64500' }

/** Writes the geo data of services under test into a directory. Returns its settings. */
export async function writeGeoFiles(directory: string): Promise<{ GEO_CITY_DB: string; GEO_ASN_DB: string }> {
  const files = { GEO_CITY_DB: join(directory, 'city.mmdb'), GEO_ASN_DB: join(directory, 'asn.mmdb') }
  const network = { autonomous_system_number: 64_500, autonomous_system_organization: knownGeo.isp }
  await writeFile(files.GEO_CITY_DB, mmdb(4, [['203.0.113.0/24', { country_code: 'DE', city: knownGeo.city }]]))
  await writeFile(files.GEO_ASN_DB, mmdb(4, [['203.0.113.0/24', network]]))
  return files
}
