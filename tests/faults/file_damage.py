"""Random damage of a file: flipped bits, truncation, zeroed ranges and swapped blocks."""

BLOCK_BYTES = 512


def flip_bits(data, random):
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 8])):
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def truncate(data, random):
    return data[: random.randrange(len(data))]


def zero_range(data, random):
    start = random.randrange(len(data))
    end = min(len(data), start + random.choice([1, 16, BLOCK_BYTES, 4096, len(data)]))
    return data[:start] + bytes(end - start) + data[end:]


def swap_blocks(data, random):
    size = max(1, min(random.choice([BLOCK_BYTES, 4096, 8192]), len(data) // 2))
    first, second = sorted(random.sample(range(max(2, len(data) // size)), 2))
    blocks = [data[at * size : (at + 1) * size] for at in (first, second)]
    middle = data[(first + 1) * size : second * size]
    return data[: first * size] + blocks[1] + middle + blocks[0] + data[(second + 1) * size :]


DAMAGES = (flip_bits, truncate, zero_range, swap_blocks)


def damage(path, random):
    """Damage a file in place; return the name of the damage. The content always changes."""
    data = path.read_bytes()
    while True:
        change = random.choice(DAMAGES)
        changed = change(data, random)
        if changed != data:
            path.write_bytes(changed)
            return change.__name__
