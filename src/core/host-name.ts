import { trimmedText } from '../core/validation.ts'

/** A host name of RFC 1123 labels. The last label is not all digits, which would make it an IP address. */
export const hostName = trimmedText(253)
  .toLowerCase()
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/,
    'must be a host name without a port, such as status.example.com',
  )

/** A host name under which a page can be served. Only `pageHostOf` makes one. */
export type PageHost = string & { readonly __pageHost: true }
