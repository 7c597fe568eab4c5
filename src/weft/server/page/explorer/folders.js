/* Folders of a drawing as a few groups: the folders below the one that holds everything, split where one is too large. */

/** A folder with more than this share of the entities is split into its folders. */
const MAX_SHARE = 0.4;
const MAX_SPLITS = 8;

/** Return the name of the group of each folder; `sizes` are their entities. */
export function groupFolders(folders, sizes) {
  const known = folders.map((folder) => folder.split("/")).filter((_, n) => folders[n]);
  const parts = folders.map((folder) => folder.split("/"));
  let common = 0;
  while (known.length && known.every((path) => path[common] !== undefined && path[common] === known[0][common])) common += 1;
  const depths = parts.map(() => common + 1);
  const nameOf = (n) => (folders[n] ? parts[n].slice(common, depths[n]).join("/") || parts[n].at(-1) : "");
  const all = sizes.reduce((sum, size) => sum + size, 0);
  for (let split = 0; split < MAX_SPLITS; split += 1) {
    const shares = new Map();
    folders.forEach((_, n) => shares.set(nameOf(n), (shares.get(nameOf(n)) ?? 0) + sizes[n]));
    const tooLarge = (n) => shares.get(nameOf(n)) > MAX_SHARE * all && parts[n].length > depths[n];
    const deeper = folders.map((folder, n) => Boolean(folder) && tooLarge(n));
    if (!deeper.includes(true)) break;
    deeper.forEach((isDeeper, n) => (depths[n] += isDeeper ? 1 : 0));
  }
  return folders.map((_, n) => nameOf(n));
}
