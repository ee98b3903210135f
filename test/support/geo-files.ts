import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { mmdb } from './mmdb.ts'
import { temporaryDirectory } from './scratch.ts'

/** What the files of `geoFiles` know of 203.0.113.0/24; of the rest they know nothing. */
export const knownGeo = { country: 'Germany', city: 'Falkenstein', isp: 'Example Hosting', asn: 'AS64500' }

/** The settings for geo data that loads at once, for the test file that calls this. */
export async function geoFiles(): Promise<{ GEO_CITY_DB: string; GEO_ASN_DB: string }> {
  const { path, remove } = await temporaryDirectory()
  afterAll(remove)
  const files = { GEO_CITY_DB: join(path, 'city.mmdb'), GEO_ASN_DB: join(path, 'asn.mmdb') }
  const network = { autonomous_system_number: 64_500, autonomous_system_organization: knownGeo.isp }
  await writeFile(files.GEO_CITY_DB, mmdb(4, [['203.0.113.0/24', { country_code: 'DE', city: knownGeo.city }]]))
  await writeFile(files.GEO_ASN_DB, mmdb(4, [['203.0.113.0/24', network]]))
  return files
}
