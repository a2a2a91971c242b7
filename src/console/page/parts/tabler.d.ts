/** The package declares types for its index alone, and a build that reads the index reads 6,000 files. */
declare module '@tabler/icons-react/dist/esm/icons/*' {
  const icon: import('@tabler/icons-react').Icon
  export default icon
}
