import type { FileInfo } from './file-store.ts'

/** The path of the incidents of the REST API. */
export const INCIDENTS_PATH = '/api/v1/incidents'

/** Returns the path at which members and API clients read a file. */
export function filePath({ incidentId, id }: Pick<FileInfo, 'incidentId' | 'id'>): string {
  return `${INCIDENTS_PATH}/${incidentId}/files/${id}`
}
