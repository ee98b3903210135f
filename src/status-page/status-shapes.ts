/**
 * The icon of each status, so that no status depends on colour alone: SVG paths in a 16 × 16 view box, filled by
 * `evenodd`.
 */
export const statusShapes = {
  // A filled disc with a tick.
  OPERATIONAL: 'M8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0zM3.6 8.3l3.2 3.2 5.7-5.8-1.3-1.3-4.4 4.5L4.9 7z',
  // A triangle with an exclamation mark.
  DEGRADED_PERFORMANCE: 'M8 .8 16 15H0zM7.1 5.8v4.4h1.8V5.8zM7.1 11.4v1.8h1.8v-1.8z',
  // A disc, half of it filled.
  PARTIAL_OUTAGE: 'M8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0zM8 2v12a6 6 0 0 0 0-12z',
  // A filled octagon with a cross.
  MAJOR_OUTAGE:
    'M5 0h6l5 5v6l-5 5H5l-5-5V5zM5.4 4 4 5.4 6.6 8 4 10.6 5.4 12 8 9.4l2.6 2.6 1.4-1.4L9.4 8 12 5.4 10.6 4 8 6.6z',
  // A square with the two bars of a pause.
  UNDER_MAINTENANCE: 'M2 0h12l2 2v12l-2 2H2l-2-2V2zM5 4v8h2V4zM9 4v8h2V4z',
  // A disc with a question mark.
  UNKNOWN:
    'M8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0zM5 6.2h1.9a1.2 1.2 0 1 1 1.8 1c-1 .6-1.6 1.2-1.6 2.5h1.8c0-.7.3-1 1-1.4a2.9 2.9 0 1 0-4.9-2.1zM7 10.9v1.9h1.9v-1.9z',
  // A ring.
  OPEN: 'M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zM8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
} as const
