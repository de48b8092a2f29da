//! Files of weights, good and bad, made here byte by byte.

use std::io::Write;

use burn::tensor::Device;
use zip::write::SimpleFileOptions;

use super::*;
use crate::init::Initial;
use crate::layer::{BatchNorm, Convolution};
use crate::parameters::{Array, taken};

/// A network of two layers with names of ResNet's.
#[derive(Module, Debug)]
struct Small {
    conv1: Convolution,
    bn1: BatchNorm,
}

fn small(seed: u64) -> Small {
    let mut initial = Initial::new(Some(seed), "test", &Device::flex());
    Small { conv1: Convolution::new(&mut initial, 2, 3, 1, 1), bn1: BatchNorm::new(&mut initial, 3) }
}

/// What is written of a tensor.
struct Given {
    name: String,
    class: &'static str,
    shape: Vec<usize>,
    strides: Vec<usize>,
    bytes: Vec<u8>,
}

/// The tensors of a network as 32-bit floats, and what torch stores beside them.
fn given(module: &impl Module, prefix: &str) -> Vec<Given> {
    let mut given: Vec<Given> =
        taken(module).iter().map(|(name, array)| single(&format!("{prefix}{name}"), array)).collect();
    given.push(single("fc.weight", &Array { shape: vec![1], values: vec![7.0] }));
    let counter = vec![3, 0, 0, 0, 0, 0, 0, 0];
    let name = format!("{prefix}bn1.num_batches_tracked");
    given.push(Given { name, class: "LongStorage", shape: vec![], strides: vec![], bytes: counter });
    given
}

fn single(name: &str, Array { shape, values }: &Array) -> Given {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Given { name: name.to_owned(), class: "FloatStorage", shape: shape.clone(), strides: row_major(shape), bytes }
}

fn text(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap();
    [b"X", length.to_le_bytes().as_slice(), text.as_bytes()].concat()
}

fn tuple(numbers: &[usize]) -> Vec<u8> {
    let items: Vec<u8> = numbers.iter().flat_map(|number| [b'M', *number as u8, (number >> 8) as u8]).collect();
    [b"(", items.as_slice(), b"t"].concat()
}

/// A state dict as Python 3 pickles it for torch, storages named 0, 1, 2 and so on.
fn state_dict(tensors: &[Given]) -> Vec<u8> {
    let mut bytes = b"ccollections\nOrderedDict\nq\x00)Rq\x01(".to_vec();
    for (key, tensor) in tensors.iter().enumerate() {
        let count = tensor.bytes.len() / Kind::of_class(tensor.class).size();
        bytes.extend(text(&tensor.name));
        bytes.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        bytes.extend([text("storage"), format!("ctorch\n{}\n", tensor.class).into_bytes()].concat());
        bytes.extend([text(&key.to_string()), text("cpu")].concat());
        bytes.extend([b'M', count as u8, 0, b't', b'Q', b'K', 0]);
        bytes.extend([tuple(&tensor.shape), tuple(&tensor.strides)].concat());
        bytes.extend(b"\x89h\x00)RtR");
    }
    // Attributes of the dictionary, which nobody needs.
    [bytes.as_slice(), b"u}", &text("_metadata"), b"}sb"].concat()
}

fn zipped(pickle: &[u8], tensors: &[Given]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, bytes: &[u8]| {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        writer.start_file(format!("archive/{name}"), options).unwrap();
        writer.write_all(bytes).unwrap();
    };
    add("data.pkl", pickle);
    add("byteorder", b"little");
    for (key, tensor) in tensors.iter().enumerate() {
        add(&format!("data/{key}"), &tensor.bytes);
    }
    writer.finish().unwrap().into_inner()
}

fn pth(tensors: &[Given]) -> Vec<u8> {
    zipped(&[b"\x80\x02", state_dict(tensors).as_slice(), b"."].concat(), tensors)
}

/// The layout before torch 1.6.
fn old_pth(tensors: &[Given]) -> Vec<u8> {
    let mut bytes =
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.\x80\x02".to_vec();
    bytes.extend(state_dict(tensors));
    bytes.extend(b".\x80\x02](");
    (0..tensors.len()).for_each(|key| bytes.extend(text(&key.to_string())));
    bytes.extend(b"e.");
    for tensor in tensors {
        let count = (tensor.bytes.len() / Kind::of_class(tensor.class).size()) as u64;
        bytes.extend(count.to_le_bytes());
        bytes.extend(&tensor.bytes);
    }
    bytes
}

fn loaded(bytes: &[u8]) -> std::result::Result<BTreeMap<String, Array>, String> {
    let module = filled(small(2), "resnet18", Path::new("w"), bytes);
    module.map(|module| taken(&module)).map_err(|error| error.to_string())
}

#[test]
fn files_are_read_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("w.pth");
    let missing = read(&file).unwrap_err().to_string();
    assert_eq!(missing, format!("cannot read `{}`: no such file or folder", file.display()));
    std::fs::write(&file, pth(&given(&small(1), ""))).unwrap();
    assert_eq!(loaded(&read(&file).unwrap()).unwrap(), taken(&small(1)));
    // A pipe would be waited for, and has no content that could be read again.
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read(&pipe).unwrap_err().to_string().contains("it is not a regular file"));
    }
}

#[test]
fn every_layout_gives_the_same_numbers() {
    let expected = taken(&small(1));
    assert_eq!(loaded(&pth(&given(&small(1), ""))).unwrap(), expected);
    assert_eq!(loaded(&pth(&given(&small(1), "module.backbone."))).unwrap(), expected);
    assert_eq!(loaded(&old_pth(&given(&small(1), ""))).unwrap(), expected);
    assert_eq!(loaded(&parameters::to_bytes(&expected).unwrap()).unwrap(), expected);
    let tensors = given(&small(1), "module.");
    let nested =
        [b"\x80\x02}(", text("epoch").as_slice(), b"K\x03", &text("state_dict"), &state_dict(&tensors), b"u."].concat();
    assert_eq!(loaded(&zipped(&nested, &tensors)).unwrap(), expected);
    // The best accuracy so far stands beside them as a tensor of its own; torch's ImageNet example saves so.
    let accuracy = b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x01tQK\0))\x89}tR";
    let parts = [b"\x80\x02}(", &text("best_acc1")[..], accuracy, &text("state_dict"), &state_dict(&tensors), b"u."];
    assert_eq!(loaded(&zipped(&parts.concat(), &tensors)).unwrap(), expected);
}

#[test]
fn half_precision_and_strides_are_read() {
    let mut tensors = given(&small(1), "");
    let weight = tensors.iter_mut().find(|tensor| tensor.name == "conv1.weight").unwrap();
    // Stored column by column: 1 4 2 5 3 6 as shape [3, 2] with strides [2, 1] would read 1 4 / 2 5 / 3 6.
    weight.class = "HalfStorage";
    weight.bytes =
        [1.0, 4.0, 2.0, 5.0, 3.0, 6.0].iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect();
    weight.strides = vec![1, 3, 1, 1];
    let bias = tensors.iter_mut().find(|tensor| tensor.name == "bn1.bias").unwrap();
    bias.class = "BFloat16Storage";
    bias.bytes = [0.5, -2.0, 96.0].iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes()).collect();
    for bytes in [pth(&tensors), old_pth(&tensors)] {
        let found = loaded(&bytes).unwrap();
        // Element (i, j) is number i + 3 j.
        assert_eq!(found["conv1.weight"].values, [1.0, 5.0, 4.0, 3.0, 2.0, 6.0]);
        assert_eq!(found["bn1.bias"].values, [0.5, -2.0, 96.0]);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let hint = "\nhint: the file must hold torchvision's resnet18, with or without its classifier";
    let without =
        |name: &str| given(&small(1), "").into_iter().filter(|tensor| tensor.name != name).collect::<Vec<_>>();
    let error = loaded(&pth(&without("bn1.running_mean"))).unwrap_err();
    assert_eq!(
        error,
        format!(
            "cannot use the weights in `w`: expected a tensor `bn1.running_mean` of shape [3], got none, but tensors such \
             as `bn1.num_batches_tracked`{hint}"
        )
    );
    let mut tensors = given(&small(1), "");
    tensors[0].shape = vec![3, 1];
    tensors[0].strides = vec![1, 1];
    let error = loaded(&pth(&tensors)).unwrap_err();
    assert_eq!(error, format!("cannot use the weights in `w`: expected shape [3] for `bn1.bias`, got [3, 1]{hint}"));
    let mut tensors = given(&small(1), "");
    tensors.push(single("layer1.2.conv1.weight", &Array { shape: vec![1], values: vec![1.0] }));
    let error = loaded(&pth(&tensors)).unwrap_err();
    assert_eq!(error, format!("cannot use the weights in `w`: `layer1.2.conv1.weight` has no place in resnet18{hint}"));
    let mut tensors = given(&small(1), "");
    tensors[0].bytes[..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let error = loaded(&pth(&tensors)).unwrap_err();
    assert_eq!(error, "cannot use the weights in `w`: expected finite numbers in `bn1.bias`, got `inf` at place 0");
    let mut tensors = given(&small(1), "");
    tensors[0].class = "IntStorage";
    let error = loaded(&pth(&tensors)).unwrap_err();
    assert!(
        error.contains("cannot read `bn1.bias`: expected floats of 16, 32 or 64 bits, got another type"),
        "{error}"
    );
}

#[test]
fn files_of_another_kind_are_refused() {
    let refused = |bytes: &[u8]| {
        let error = loaded(bytes).unwrap_err();
        error.strip_prefix("cannot use the weights in `w`: ").unwrap().to_owned()
    };
    assert_eq!(refused(b""), "it is empty");
    let other = "expected a `.pth` of torch or a `.safetensors` file, got something else";
    assert_eq!(refused(b"these are no weights"), other);
    assert_eq!(refused(b"{\"a\": 1}"), other);
    // A header of 2^56 bytes.
    assert_eq!(refused(b"\0\0\0\0\0\0\0\x01{}"), other);
    assert_eq!(refused(b"\x80\x02K\x01."), "it is a pickle, but not of `torch.save`");
    let model = zipped(b"\x80\x02ctorchvision.models.resnet\nResNet\n)\x81}b.", &[]);
    let save = "save `model.state_dict()` instead of `model`";
    assert_eq!(refused(&model), format!("expected a state dict, got torchvision.models.resnet.ResNet; {save}"));
    assert_eq!(refused(&zipped(b"\x80\x02}.", &[])), "it holds no tensors");
    let call = refused(&zipped(b"\x80\x02cos\nsystem\n(X\x02\0\0\0lstR.", &[]));
    assert_eq!(call, format!("expected a state dict, got os.system; {save}"));
    let operation = refused(&zipped(b"\x80\x02\xff.", &[]));
    assert_eq!(operation, "this is no state dict of torch (pickle operation 0xff at byte 2)");
}

#[test]
fn claims_beyond_the_file_are_refused() {
    let mut tensors = given(&small(1), "");
    tensors[0].strides = vec![60_000];
    let error = loaded(&pth(&tensors)).unwrap_err();
    assert!(error.contains("cannot read `bn1.bias`: expected 120001 numbers in its storage, got 3"), "{error}");
    // A length of 2^62 in the old layout.
    let tensors = given(&small(1), "");
    let mut bytes = old_pth(&tensors);
    let stored: usize = tensors.iter().map(|tensor| tensor.bytes.len() + 8).sum();
    let first = bytes.len() - stored;
    bytes[first + 7] = 0x40;
    assert!(loaded(&bytes).unwrap_err().contains("the file is cut off"));
}

/// Little on disk may become much in memory; where it ends is said.
#[test]
fn bombs_are_refused() {
    for (operation, expected) in [(b'N', "it holds more than 1048576 values"), (b'(', "more than 8388608 operations")] {
        let error =
            loaded(&zipped(&[b"\x80\x02", vec![operation; 9 << 20].as_slice(), b"."].concat(), &[])).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    // Sides of a tensor without numbers are multiplied too.
    let sides =
        format!("{{\"conv1.x\":{{\"dtype\":\"F32\",\"shape\":[0,{0},{0}],\"data_offsets\":[0,0]}}}}", 1_u64 << 33);
    let bytes = [&(sides.len() as u64).to_le_bytes()[..], sides.as_bytes()].concat();
    assert!(loaded(&bytes).unwrap_err().contains("got none"));
}

#[test]
fn no_cut_and_no_changed_byte_panics() {
    let tensors = given(&small(1), "");
    let safe = parameters::to_bytes(&taken(&small(1))).unwrap();
    for bytes in [pth(&tensors), old_pth(&tensors), safe] {
        for length in (0..bytes.len()).step_by(3) {
            assert!(loaded(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..1500 {
            let mut changed = bytes.clone();
            let place = random.usize(..changed.len());
            changed[place] = random.u8(..);
            // What is changed may be a number; only a panic would be wrong.
            let _ = loaded(&changed);
        }
    }
}
