#!/usr/bin/env python3
"""Makes the packages of a built program: tarball (zip for Windows), .deb, Python wheel, npm
packages, a bill of materials and checksums. Needs nothing but Python 3.9 and cargo, so that
it runs wherever the program is built. `scripts/dist` calls it."""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = "Models, agents and people deliberate; the record is kept"
LICENCE = "MIT OR Apache-2.0"
# The same sources give the same files.
TIME = int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))

# By Rust's target: (Debian, npm's os and cpu, the end of the wheel's platform).
TARGETS = {
    "x86_64-unknown-linux-gnu": ("amd64", "linux", "x64", "x86_64"),
    "aarch64-unknown-linux-gnu": ("arm64", "linux", "arm64", "aarch64"),
    "x86_64-apple-darwin": (None, "darwin", "x64", "macosx_10_15_x86_64"),
    "aarch64-apple-darwin": (None, "darwin", "arm64", "macosx_11_0_arm64"),
    "x86_64-pc-windows-msvc": (None, "win32", "x64", "win_amd64"),
    "x86_64-pc-windows-gnu": (None, "win32", "x64", "win_amd64"),
}
SHELLS = {
    "bash": "share/bash-completion/completions/plenary",
    "zsh": "share/zsh/site-functions/_plenary",
    "fish": "share/fish/vendor_completions.d/plenary.fish",
    "powershell": "share/powershell/plenary.ps1",
}


class Program:
    """The built program and what belongs beside it."""

    def __init__(self, binary, target, features, profile):
        self.path = Path(binary)
        self.bytes = self.path.read_bytes()
        self.target, self.features = target, features
        self.level = 1 if profile == "dev" else 9
        self.name = "plenary.exe" if "windows" in target else "plenary"
        told = subprocess.run([self.path, "--version"], capture_output=True, text=True, check=True)
        self.version = told.stdout.split()[1]

    def glibc(self):
        """The oldest C library that it runs with, as its symbols ask for."""
        found = {tuple(map(int, pair)) for pair in re.findall(rb"GLIBC_(\d+)\.(\d+)", self.bytes)}
        return max(found, default=(2, 17))

    def completions(self, shell):
        made = subprocess.run([self.path, "completions", shell], capture_output=True, check=True)
        return made.stdout

    def manual(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([self.path, "__manual", folder], check=True)
        return {page.name: page.read_bytes() for page in sorted(folder.glob("*.1"))}


def entries(program, pages, licences):
    """What the tarball holds, by path: (bytes, mode)."""
    files = {f"bin/{program.name}": (program.bytes, 0o755)}
    for shell, place in SHELLS.items():
        files[place] = (program.completions(shell), 0o644)
    for name, text in pages.items():
        files[f"share/man/man1/{name}"] = (text, 0o644)
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md"):
        files[name] = ((ROOT / name).read_bytes(), 0o644)
    files["THIRD-PARTY-LICENSES.txt"] = (licences.encode(), 0o644)
    return files


def tar(files, folder="", level=9, folders=False):
    """A packed tar of (bytes, mode) by path, owned by root."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
        if folders:
            above = {str(p) for name in files for p in Path(name).parents if str(p) != "."}
            for name in sorted(above):
                info = tarfile.TarInfo(f"{folder}{name}/")
                info.type, info.mode, info.mtime = tarfile.DIRTYPE, 0o755, TIME
                archive.addfile(info)
        for name, (text, mode) in files.items():
            info = tarfile.TarInfo(f"{folder}{name}")
            info.size, info.mode, info.mtime = len(text), mode, TIME
            archive.addfile(info, io.BytesIO(text))
    return gzip.compress(plain.getvalue(), level, mtime=TIME)


def tarball(program, files, out):
    stem = f"plenary-{program.version}-{program.target}"
    if "windows" in program.target:
        with zipfile.ZipFile(out / f"{stem}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (text, mode) in files.items():
                archive.writestr(member(f"{stem}/{name}", mode), text)
        return
    packed = tar(files, f"{stem}/", program.level, folders=True)
    (out / f"{stem}.tar.gz").write_bytes(packed)


def member(name, mode):
    """An entry of a zip with permissions and a fixed time."""
    info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def deb(program, files, out):
    arch = TARGETS[program.target][0]
    if arch is None:
        return
    data = {}
    for name, (text, mode) in files.items():
        if name.startswith("share/powershell/"):
            continue
        if name.startswith("share/zsh/"):
            name = "share/zsh/vendor-completions/_plenary"
        if name.startswith("share/man/"):
            name, text = f"{name}.gz", gzip.compress(text, 9, mtime=TIME)
        if name.startswith(("bin/", "share/")):
            data[f"usr/{name}"] = (text, mode)
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"):
        data[f"usr/share/doc/plenary/{name}"] = files[name]
    copyright = f"Plenary is licensed under {LICENCE}; see the files beside this one.\n"
    data["usr/share/doc/plenary/copyright"] = (copyright.encode(), 0o644)
    size = sum(len(text) for text, _ in data.values()) // 1024
    needs = ["libc6 (>= %d.%d)" % program.glibc(), "libgcc-s1"]
    if b"libstdc++.so.6" in program.bytes:
        needs.append("libstdc++6 (>= 12)")
    control = (
        f"Package: plenary\nVersion: {program.version}\nArchitecture: {arch}\n"
        f"Maintainer: The Plenary authors <plenary@invalid>\nInstalled-Size: {size}\n"
        f"Depends: {', '.join(needs)}\nRecommends: ca-certificates\nSuggests: poppler-utils\n"
        f"Section: utils\nPriority: optional\nDescription: {SUMMARY}\n"
        " Several models, agents and people answer one question, decide on a whiteboard, talk\n"
        " in a council or a discussion. One program: command line, page, REST, MCP.\n"
    )
    sums = "".join(f"{hashlib.md5(text).hexdigest()}  {name}\n" for name, (text, _) in data.items())
    about = {"./control": (control.encode(), 0o644), "./md5sums": (sums.encode(), 0o644)}
    inside = {f"./{name}": entry for name, entry in data.items()}
    parts = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", tar(about, level=9)),
        ("data.tar.gz", tar(inside, level=program.level, folders=True)),
    ]
    with open(out / f"plenary_{program.version}_{arch}.deb", "wb") as file:
        file.write(b"!<arch>\n")
        for name, text in parts:
            file.write(f"{name:<16}{TIME:<12}{0:<6}{0:<6}{'100644':<8}{len(text):<10}`\n".encode())
            file.write(text + b"\n" * (len(text) % 2))


def wheel(program, licences, out):
    end = TARGETS[program.target][3]
    if "linux" in program.target:
        end = "manylinux_%d_%d_%s" % (*program.glibc(), end)
    stem = f"plenary-{program.version}"
    about = f"{stem}.dist-info"
    readme = (ROOT / "README.md").read_text()
    files = {
        f"{stem}.data/scripts/{program.name}": (program.bytes, 0o755),
        f"{about}/METADATA": (
            f"Metadata-Version: 2.4\nName: plenary\nVersion: {program.version}\nSummary: {SUMMARY}\n"
            f"License-Expression: {LICENCE}\nLicense-File: LICENSE-MIT\n"
            f"License-File: LICENSE-APACHE\nLicense-File: THIRD-PARTY-LICENSES.txt\n"
            f"Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}".encode(),
            0o644,
        ),
        f"{about}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: plenary\nRoot-Is-Purelib: false\nTag: py3-none-{end}\n".encode(),
            0o644,
        ),
        f"{about}/licenses/LICENSE-MIT": ((ROOT / "LICENSE-MIT").read_bytes(), 0o644),
        f"{about}/licenses/LICENSE-APACHE": ((ROOT / "LICENSE-APACHE").read_bytes(), 0o644),
        f"{about}/licenses/THIRD-PARTY-LICENSES.txt": (licences.encode(), 0o644),
    }
    record = ""
    for name, (text, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text)}\n"
    files[f"{about}/RECORD"] = (f"{record}{about}/RECORD,,\n".encode(), 0o644)
    path = out / f"{stem}-py3-none-{end}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=program.level) as archive:
        for name, (text, mode) in files.items():
            archive.writestr(member(name, mode), text)


def npm(program, licences, out):
    """A package with the program for one platform, and the one that people name, which finds it."""
    _, system, cpu, _ = TARGETS[program.target]
    name = f"plenary-{system}-{cpu}"
    base = {"version": program.version, "description": SUMMARY, "license": LICENCE}
    one = {"name": name, **base, "os": [system], "cpu": [cpu], "preferUnplugged": True}
    if system == "linux":
        one["libc"] = ["glibc"]
    notices = {
        f"package/{file}": ((ROOT / file).read_bytes(), 0o644)
        for file in ("LICENSE-MIT", "LICENSE-APACHE", "README.md")
    }
    files = {
        "package/package.json": (json.dumps(one, indent=2).encode(), 0o644),
        f"package/bin/{program.name}": (program.bytes, 0o755),
        "package/THIRD-PARTY-LICENSES.txt": (licences.encode(), 0o644),
        **notices,
    }
    (out / f"{name}-{program.version}.tgz").write_bytes(tar(files, level=program.level))
    platforms = sorted({f"plenary-{system}-{cpu}" for _, system, cpu, _ in TARGETS.values()})
    finder = {
        "name": "plenary",
        **base,
        "bin": {"plenary": "bin/plenary.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {platform: program.version for platform in platforms},
    }
    files = {
        "package/package.json": (json.dumps(finder, indent=2).encode(), 0o644),
        "package/bin/plenary.js": ((ROOT / "packaging/npm.js").read_bytes(), 0o755),
        **notices,
    }
    (out / f"plenary-{program.version}.tgz").write_bytes(tar(files))


def crates(program):
    """What is linked into the program: cargo's packages, without those that only build it."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform"]
    command += [program.target, "--features", program.features or ""]
    command += ["--manifest-path", str(ROOT / "crates/app/Cargo.toml")]
    told = subprocess.run(command, capture_output=True, check=True, cwd=ROOT)
    metadata = json.loads(told.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

    def is_macro(package):
        return any("proc-macro" in target["kind"] for target in package["targets"])

    def linked(node):
        kinds = lambda dep: any(kind["kind"] is None for kind in dep["dep_kinds"])
        return [dep["pkg"] for dep in node["deps"] if kinds(dep) and not is_macro(packages[dep["pkg"]])]

    root = next(id for id, package in packages.items() if package["name"] == "plenary")
    found, waiting = {}, [root]
    while waiting:
        id = waiting.pop()
        if id not in found:
            found[id] = sorted(linked(nodes[id]))
            waiting += found[id]
    return packages, found, root


def bill(program, packages, found, root, out):
    """CycloneDX 1.6."""
    lock = (ROOT / "Cargo.lock").read_text()
    sums = re.findall(r'name = "(.*?)"\nversion = "(.*?)"\nsource = .*\nchecksum = "(.*?)"', lock)
    sums = {(name, version): checksum for name, version, checksum in sums}

    def ref(id):
        return f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}"

    components = []
    for id in sorted(found, key=ref):
        package = packages[id]
        if id == root:
            continue
        one = {"type": "library", "bom-ref": ref(id), "name": package["name"]}
        one.update(version=package["version"], purl=ref(id))
        licence = (package["license"] or "").replace("/", " OR ")
        if licence:
            one["licenses"] = [{"expression": licence}]
        checksum = sums.get((package["name"], package["version"]))
        if checksum:
            one["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        components.append(one)
    components += bundled(packages, found) + page()
    named = {"type": "application", "bom-ref": ref(root), "name": "plenary", "version": program.version}
    named["licenses"] = [{"expression": LICENCE}]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": named},
        "components": components,
        "dependencies": [
            {"ref": ref(id), "dependsOn": sorted(map(ref, on))} for id, on in sorted(found.items())
        ],
    }
    path = out / f"plenary-{program.version}-{program.target}.cdx.json"
    path.write_text(json.dumps(document, indent=1) + "\n")


def bundled(packages, found):
    """Sources of other languages that crates bring along."""
    def inside(crate, path, pattern):
        for id in found:
            if packages[id]["name"] == crate:
                folder = Path(packages[id]["manifest_path"]).parent
                match = re.search(pattern, (folder / path).read_text(errors="replace"))
                return match and match[1]

    made = []
    version = inside("libsqlite3-sys", "sqlite3/sqlite3.h", r'SQLITE_VERSION +"(.*?)"')
    if version:
        made.append({"type": "library", "bom-ref": "sqlite", "name": "sqlite", "version": version,
                     "licenses": [{"license": {"name": "Public domain"}}]})
    if any(packages[id]["name"] == "llama-cpp-sys-2" for id in found):
        crate = next(packages[id] for id in found if packages[id]["name"] == "llama-cpp-sys-2")
        made.append({"type": "library", "bom-ref": "llama.cpp", "name": "llama.cpp",
                     "version": f"as in llama-cpp-sys-2 {crate['version']}",
                     "licenses": [{"license": {"id": "MIT"}}]})
    return made


def page():
    """What the web interface is made of, as the lock file has it."""
    lock = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    made = []
    for place, package in sorted(lock.items()):
        if not place or package.get("dev") or package.get("optional"):
            continue
        name = place.rsplit("node_modules/", 1)[-1]
        purl = f"pkg:npm/{name.replace('@', '%40', 1)}@{package['version']}"
        one = {"type": "library", "bom-ref": f"{purl}#{place}", "name": name}
        one.update(version=package["version"], purl=purl)
        if package.get("license"):
            one["licenses"] = [{"expression": package["license"]}]
        made.append(one)
    return made


def licences(packages, found):
    """The notices that come with what is linked in, each once."""
    texts = {}
    for id in found:
        package = packages[id]
        if package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        files = [file for file in folder.iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", file.name)]
        files += [file for file in [folder / "llama.cpp/LICENSE"] if file.exists()]
        for file in sorted(file for file in files if file.is_file()):
            text = file.read_text(errors="replace").strip()
            texts.setdefault(text, set()).add(f"{package['name']} {package['version']}")
    lines = ["Plenary contains the following works under these licences.\n"]
    for text, names in sorted(texts.items(), key=lambda pair: sorted(pair[1])):
        lines.append("=" * 80 + "\n" + ", ".join(sorted(names)) + "\n\n" + text + "\n")
    return "\n".join(lines)


def checksums(out):
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(out.iterdir())
        if file.is_file() and file.name != "SHA256SUMS"
    ]
    (out / "SHA256SUMS").write_text("".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", help="the built program, with the feature `pages`")
    parser.add_argument("--target", help="Rust's name of the platform")
    parser.add_argument("--features", default="", help="the features that it was built with")
    parser.add_argument("--profile", default="dist", help="dev packs quickly instead of tightly")
    parser.add_argument("--checksums", action="store_true", help="only write SHA256SUMS anew")
    parser.add_argument("--out", required=True, type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if not given.checksums:
        if given.target not in TARGETS:
            sys.exit(f"{given.target} is not a target that packages are made for: {', '.join(TARGETS)}")
        program = Program(given.binary, given.target, given.features, given.profile)
        packages, found, root = crates(program)
        notices = licences(packages, found)
        work = given.out / "man"
        files = entries(program, program.manual(work), notices)
        for page_file in work.iterdir():
            page_file.unlink()
        work.rmdir()
        tarball(program, files, given.out)
        deb(program, files, given.out)
        wheel(program, notices, given.out)
        npm(program, notices, given.out)
        bill(program, packages, found, root, given.out)
    checksums(given.out)
    for file in sorted(given.out.iterdir()):
        print(f"{file.stat().st_size:>12,}  {file.name}")


if __name__ == "__main__":
    main()
