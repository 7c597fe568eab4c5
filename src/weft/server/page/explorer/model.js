/* Entities and relations of a drawing as columns, with their positions, filters and neighbours. */

import { groupFolders } from "./folders.js";
import { nameGroups } from "./terms.js";

/** Relation types that are their own inverse. */
const SYMMETRIC = new Set(["co_occurs_with", "married_to", "related_to", "sibling_of"]);
/** Colours of groups; smaller groups are grey. */
export const HUES = 12;
/** Name of the community of those that belong to no other. */
const SMALL = "Small groups";
/** Entities that an expansion may add. */
const SPARE = 2000;
const SPARE_RELATIONS = 6000;

export class Model {
  /** Take the columns of `GET /graph/overview`; without them, the drawing is empty. */
  constructor({ entities, folders, relation_types, relations, total_entities, total_relations } = EMPTY) {
    this.names = [...entities.name]; // expansions add to it, and `EMPTY` is shared
    this.types = [...new Set(entities.type)];
    this.kinds = [...relation_types];
    this.total = { entities: total_entities, relations: total_relations };
    this.count = this.names.length;
    this.size = relations.source.length;
    const room = this.count + SPARE;
    this.type = Int16Array.from({ length: room }, (_, i) => this.types.indexOf(entities.type[i]));
    this.chunks = Int32Array.from({ length: room }, (_, i) => entities.chunks[i] ?? 0);
    this.spread = Int32Array.from({ length: room }, (_, i) => entities.spread[i] ?? 0);
    this.folder = Int32Array.from({ length: room }, (_, i) => entities.folder[i] ?? -1);
    this.folders = folders;
    this.communities = [];
    this.hue = new Uint8Array(room).fill(HUES);
    this.groups = [];
    this.x = new Float32Array(room);
    this.y = new Float32Array(room);
    this.community = new Int32Array(room);
    this.isShown = new Uint8Array(room).fill(1);
    this.isPinned = new Uint8Array(room);
    const more = this.size + SPARE_RELATIONS;
    const column = (Type, values) => Type.from({ length: more }, (_, e) => values[e] ?? 0);
    this.source = column(Int32Array, relations.source);
    this.target = column(Int32Array, relations.target);
    this.kind = column(Int16Array, relations.type);
    this.weight = column(Float32Array, relations.weight);
    this.isDrawn = new Uint8Array(more).fill(1);
    this.hidden = { types: new Set(), kinds: new Set() };
    this.index();
  }

  /** Take the communities of the layout, largest first, and name each after the words typical of its members. */
  setCommunities(community, count, hasRest) {
    this.community.set(community);
    const members = Array.from({ length: count }, () => []);
    for (let i = 0; i < community.length; i += 1) members[community[i]].push(shown(this.names[i]));
    this.communities = nameGroups(members);
    if (hasRest) this.communities[count - 1] = SMALL;
  }

  /** Colour the entities by `community`, `folder` or `type`; the largest groups have colours. */
  colour(kind) {
    const column = this[kind];
    const names = { community: this.communities, folder: this.folderNames(), type: this.types }[kind];
    const groups = new Map();
    for (let i = 0; i < this.count; i += 1) {
      // Several folders are one group, but two communities may have the same name.
      const key = kind === "folder" ? (names[column[i]] ?? "") : column[i];
      const name = kind === "folder" ? key : names[key];
      if (name) (groups.get(key) ?? groups.set(key, { key, name, members: [] }).get(key)).members.push(i);
    }
    const size = ({ name, members }) => (name === SMALL ? 0 : members.length);
    this.groups = [...groups.values()].sort((a, b) => size(b) - size(a) || a.members[0] - b.members[0]);
    this.groups.forEach((group, n) => (group.hue = group.name === SMALL ? HUES : Math.min(n, HUES)));
    this.hue.fill(HUES);
    for (const { members, hue } of this.groups) for (const i of members) this.hue[i] = hue;
  }

  folderNames() {
    const sizes = this.folders.map(() => 0);
    for (let i = 0; i < this.count; i += 1) if (this.folder[i] >= 0) sizes[this.folder[i]] += 1;
    return groupFolders(this.folders, sizes);
  }

  /** Rebuild the lists of relations of each entity. */
  index() {
    this.of = Array.from({ length: this.count }, () => []);
    for (let e = 0; e < this.size; e += 1) {
      this.of[this.source[e]].push(e);
      this.of[this.target[e]].push(e);
    }
  }

  /** Show only entities and relations whose types are not hidden. */
  filter() {
    const { types, kinds } = this.hidden;
    for (let i = 0; i < this.count; i += 1) this.isShown[i] = types.has(this.type[i]) ? 0 : 1;
    for (let e = 0; e < this.size; e += 1) {
      const isOpen = this.isShown[this.source[e]] && this.isShown[this.target[e]];
      this.isDrawn[e] = isOpen && !kinds.has(this.kind[e]) ? 1 : 0;
    }
  }

  /** Return the shown relations of an entity, strongest first: the other entity, type, weight and direction. */
  relations(i) {
    return this.of[i]
      .filter((e) => this.isDrawn[e])
      .map((e) => ({
        edge: e,
        other: this.source[e] === i ? this.target[e] : this.source[e],
        kind: this.kinds[this.kind[e]],
        weight: this.weight[e],
        isOut: this.source[e] === i,
      }))
      .sort((a, b) => b.weight - a.weight || a.other - b.other);
  }

  /** Return the shown entities whose name contains a text; those that start with it come first. */
  find(text, limit) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const [starting, containing] = [[], []];
    for (let i = 0; i < this.count && starting.length < limit; i += 1) {
      const at = this.isShown[i] ? this.names[i].toLowerCase().indexOf(wanted) : -1;
      if (at === 0) starting.push(i);
      else if (at > 0 && containing.length < limit) containing.push(i);
    }
    return [...starting, ...containing].slice(0, limit);
  }

  /** Return the position of an entity; it is added beside `near` if it is new, or -1 if there is no room. */
  add({ name, type, chunks }, near, angle) {
    const known = this.names.indexOf(name);
    if (known >= 0) return known;
    if (this.count >= this.x.length) return -1;
    const i = this.count;
    this.names.push(name);
    if (!this.types.includes(type)) this.types.push(type);
    this.type[i] = this.types.indexOf(type);
    this.chunks[i] = chunks;
    this.spread[i] = chunks;
    this.hue[i] = this.groups.find((group) => group.name === type)?.hue ?? HUES;
    this.community[i] = this.community[near];
    this.x[i] = this.x[near] + 40 * Math.cos(angle);
    this.y[i] = this.y[near] + 40 * Math.sin(angle);
    this.count += 1;
    this.of.push([]);
    return i;
  }

  /** Add a relation between two entities unless it is known; return its position, or -1. */
  relate(a, b, kind, weight) {
    const isSame = (e) => this.kind[e] === kind && [this.source[e], this.target[e]].includes(b);
    const known = this.of[a].find(isSame);
    if (known !== undefined) return known;
    if (this.size >= this.source.length) return -1;
    const e = this.size++;
    [this.source[e], this.target[e], this.kind[e], this.weight[e]] = [a, b, kind, weight];
    this.of[a].push(e);
    this.of[b].push(e);
    return e;
  }

  /** Return the position of a relation type, which is added if it is new. */
  kindOf(name) {
    const at = this.kinds.findIndex((kind) => kind.name === name);
    return at >= 0 ? at : this.kinds.push({ name, directed: !SYMMETRIC.has(name) }) - 1;
  }

  /** Return the radius of an entity: it grows with the number of passages that mention it; its own page counts once. */
  radius(i) {
    return 3.5 + Math.min(Math.sqrt(this.spread[i]) * 1.1, 9);
  }
}

const EMPTY = {
  entities: { name: [], type: [], chunks: [], spread: [], folder: [] },
  folders: [],
  relation_types: [],
  relations: { source: [], target: [], type: [], weight: [] },
  total_entities: 0,
  total_relations: 0,
};

/** Return a name as it is shown: of a module or file in folders, the last part. */
export const shown = (name) => (/^\S+\/\S+$/.test(name) ? name.split("/").at(-1) : name);
