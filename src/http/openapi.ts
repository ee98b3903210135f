import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { createDocument } from 'zod-openapi'
import { geoAttribution } from '../blacklist/geo.ts'
import { packageVersion } from '../package-version.ts'

/** The OpenAPI 3.1 description of the REST paths, made from the schemas that validate them. */
export function openApiDocument(baseUrl: string, paths: ZodOpenApiPathsObject): object {
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Allclear',
      version: packageVersion,
      description: `DNS blacklist checks for IP addresses and domains, heartbeats of watched jobs, billing, and every page and document. Everything else is at /graphql.\n\n${geoAttribution}.`,
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'Blacklist checks', description: 'Is an IP address or a domain on a DNS blacklist?' },
      { name: 'Heartbeats', description: 'What watched jobs call.' },
      { name: 'Billing', description: 'Tiers of status pages, and how they are paid.' },
      { name: 'Pages', description: 'What people open in a browser.' },
      {
        name: 'Status page documents',
        description: 'What programs read of status pages: JSON, feeds, calendars, badges.',
      },
      { name: 'Operation', description: 'Health, metrics, files.' },
    ],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key: Authorization: Bearer ac_….' },
        header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  })
}
